"""Where a template that cannot be used stands: the line and the whole path of the value itself."""

import pytest

from tests.unit.catalog.files import problems

HEAD = """\
apiVersion: penstock/v1
kind: Playbook
metadata: {path: a}
"""
STEPS = """\
workflow:
  - step: one
    tool: {kind: noop}
    next: two
  - step: two
"""
FIRST_LINE = len((HEAD + STEPS).splitlines()) + 1
BAD = "{{ nobody.x }}"
UNREADABLE = "{{ workload. }}"

# what stands under the step two; the line, counted from there, and the path of each value that is BAD in it
PLACES = [
    ("args:\n  deep:\n    fine: 1\n    x: BAD", [(4, "args.deep.x")]),
    ("args:\n  list:\n    - 1\n    - - {x: 1}\n      -\n        x: BAD", [(6, "args.list[1][1].x")]),
    ("args:\n  a: BAD\n  b:\n    c: BAD", [(2, "args.a"), (4, "args.b.c")]),
    ("args:\n  a: &it\n    x: BAD\n  b: *it", [(3, "args.a.x"), (3, "args.b.x")]),
    ("args:\n  x:\n    BAD", [(3, "args.x")]),
    ("when:\n  BAD", [(2, "when")]),
    ("loop:\n  mode: parallel\n  in: BAD", [(3, "loop.in")]),
    ("loop:\n  in:\n    - 1\n    - x: BAD", [(4, "loop.in[1].x")]),
    ("tool:\n  kind: http\n  url: http://a\n  json:\n    x: [1, {y: BAD}]", [(5, "tool.json.x[1].y")]),
    ("tool:\n  kind: http\n  url: http://a\n  headers:\n    x-a: a\n    x-b: BAD", [(6, "tool.headers.x-b")]),
    (
        "tool:\n  - {name: p, kind: noop}\n  - name: q\n    kind: playbook\n    path: b\n    payload:\n      x: BAD",
        [(7, "tool[1].payload.x")],
    ),
    (
        "tool: {kind: email, auth: a, from: a@b.example, subject: s, text: t,\n  to: BAD,\n  cc: [c@b.c,\n  BAD]}",
        [(2, "tool.to"), (4, "tool.cc[1]")],
    ),
    (
        "tool:\n  kind: postgres\n  auth: a\n  statement: select %(x)s\n  params:\n    x: BAD",
        [(6, "tool.params.x")],
    ),
    ("next:\n  - step: two\n    max_times: 2\n    when: BAD", [(4, "next[0].when")]),
    (
        "next:\n  - {step: one, max_times: 1}\n  - step: two\n    max_times: 2\n    args:\n      x: {y: BAD}",
        [(6, "next[1].args.x.y")],
    ),
    ("next:\n  step: two\n  max_times: 2\n  args:\n    x:\n      - BAD", [(6, "next.args.x[0]")]),
]


@pytest.mark.parametrize(("template", "words"), [(BAD, "nobody is unknown here"), (UNREADABLE, "is no template")])
@pytest.mark.parametrize(("text", "places"), PLACES)
def test_each_template_at_fault_is_named_by_its_own_line_and_path(
    text: str, places: list[tuple[int, str]], template: str, words: str
) -> None:
    if "tool:" not in text:
        text += "\ntool: {kind: noop}"
    indented = "".join(f"    {line}\n" for line in text.replace("BAD", f'"{template}"').splitlines())
    said = problems(HEAD + STEPS + indented)
    expected = [f"{FIRST_LINE - 1 + line}: workflow[1].{path}: " for line, path in places]
    assert [one for one, start in zip(said, expected, strict=True) if not one.startswith(start)] == []
    assert all(words in one for one in said)


def test_a_step_that_comes_later_is_refused_where_it_is_read() -> None:
    steps = STEPS.replace("next: two", 'args:\n      a:\n        b: "{{ two.x }}"\n    next: two')
    (said,) = problems(HEAD + steps + "    tool: {kind: noop}\n")
    assert said.startswith("9: workflow[0].args.a.b: the template '{{ two.x }}': two does not come before one")


def test_every_template_of_the_workload_is_refused_where_it_stands() -> None:
    workload = 'workload:\n  a: 1\n  tags:\n    - x\n    - deep: "{{ x }}"\n  z: "{% if y %}"\n'
    assert problems(HEAD + workload + STEPS + "    tool: {kind: noop}\n") == [
        "8: workload.tags[1].deep: expected the values themselves, found the template '{{ x }}'",
        "9: workload.z: expected the values themselves, found the template '{% if y %}'",
    ]


def test_text_that_is_taken_as_it_stands_is_not_blamed_for_the_same_text_elsewhere() -> None:
    tool = '    tool:\n      kind: python\n      code: "{{ nobody.x }}"\n    args:\n      x: "{{ nobody.x }}"\n'
    (said,) = problems(HEAD + STEPS + tool)
    assert said.startswith(f"{FIRST_LINE + 4}: workflow[1].args.x: ")
