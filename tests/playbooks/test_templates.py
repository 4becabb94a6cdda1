"""Templates: what they give, and the ways out of the sandbox that are shut."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from penstock.catalog.templates import evaluated, problems, reads
from penstock.errors import TemplateFailed

CONTEXT: dict[str, Any] = {
    "workload": {"n": 2, "items": [1, 2], "text": "abc", "none": None, "rows": [{"k": "x"}, {"k": "y"}]},
    "execution": {"id": 7},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ workload.n }}", 2),
        ("{{ workload.n }} pieces", "2 pieces"),
        ("{{ workload.items }}", [1, 2]),
        ("{{ workload['items'][0] }}", 1),
        ("{{ workload.rows | map(attribute='k') | join('-') }}", "x-y"),
        ("{{ workload.rows | selectattr('k', 'equalto', 'x') | list }}", [{"k": "x"}]),
        ("{{ workload.missing | default('none') }}", "none"),
        ("{{ workload.none }}", None),
        ("{{ workload.text.upper() }}", "ABC"),
        ("{% for r in workload.rows %}{{ r.k }}{% endfor %}", "xy"),
        ("{{ 'yes' if workload.n > 1 else 'no' }}", "yes"),
        ("{{ '00123' }}", "00123"),
        ("plain", "plain"),
    ],
)
def test_a_template_gives_its_value_with_its_type(text: str, value: Any) -> None:
    assert problems(text) == []
    assert evaluated(text, CONTEXT) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ -workload.n }}", -2),
        ("{{ -workload.n + 5 }}", 3),
        ("{{-workload.n}}", 2),
        ("{{- -workload.n -}}", -2),
        ("{{+workload.text}}", "abc"),
        ("{{+ -workload.n }}", -2),
        ("{{ +workload.n }}", 2),
        ("{{ - -workload.n -}}", 2),
        (" {{- workload['items'] -}} \n", [1, 2]),
    ],
)
def test_a_sign_is_told_from_the_dash_that_takes_whitespace_away(text: str, value: Any) -> None:
    assert problems(text) == []
    assert evaluated(text, CONTEXT) == value


_SPACES = st.sampled_from(["", " ", "\n "])
_SIGNS = st.lists(st.sampled_from(["-", "+", "- ", "+ "]), max_size=3).map("".join)
_TERMS = st.sampled_from(["workload.n", "workload['items'][-1]", "3", "(-workload.n)", "(workload.text | length)"])


@given(
    st.sampled_from(["{{", "{{-", "{{+"]),
    st.lists(st.tuples(_SPACES, _SIGNS, _TERMS), min_size=1, max_size=3),
    st.sampled_from(["+", "-", "*"]),
    st.sampled_from(["}}", "-}}"]),
    _SPACES,
)
def test_signs_and_whitespace_control_mean_what_they_mean_in_plain_jinja(
    opening: str, terms: list[tuple[str, str, str]], operator: str, closing: str, space: str
) -> None:
    text = space + opening + operator.join("".join(term) for term in terms) + space + closing + space
    value = evaluated(text, CONTEXT)
    assert isinstance(value, int)
    assert str(value) == Environment().from_string(text).render(CONTEXT).strip()


@pytest.mark.parametrize("text", ["{{ workload.n + }}", "{{ workload.n +}}", "{{ workload.n - }}", "{{ - }}", "{{--}}"])
def test_a_sign_without_a_value_is_refused(text: str) -> None:
    assert "is no template that can be read" in "".join(problems(text))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("{{ a.count }}", {"count"}),
        ("{{ a['count'] }} of {{ a.count }}", {"count"}),
        ("{{ a.count + a.results[0].count }}", {"count", "results"}),
        ("{% for one in a.results %}{{ one.count }}{% endfor %}", {"results"}),
        ("{{ a }}", {None}),
        ("{{ a.count if a else 0 }}", {"count", None}),
        ("{{ a | length }}", {None}),
        ("{{ a[workload.key] }}", {None}),
        ("{{ a[0] }}", {None}),
        ("{{ [a][0].count }}", {None}),
        ("{% for a in a %}{{ a.count }}{% endfor %}", {"count", None}),
    ],
)
def test_what_of_a_step_a_template_reads(text: str, keys: set[str | None]) -> None:
    assert reads(text)["a"] >= keys
    # the count alone is never said of a template that may read more
    assert (reads(text)["a"] == {"count"}) == (keys == {"count"})


ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''['__class__'] }}",
    "{{ ''|attr('__class__') }}",
    "{{ ''|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ workload['\\x5f\\x5fclass\\x5f\\x5f'].mro() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ [].__class__.__base__ }}",
    "{{ workload.__init__.__globals__ }}",
    "{{ workload.items.__self__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'] }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__ }}",
    "{{ self.__init__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ request.application.__globals__ }}",
    "{{ config.items() }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ url_for.__globals__ }}",
    "{{ range.__class__ }}",
    "{{ range(1000000000) | list }}",
    "{{ dict.mro() }}",
    "{{ '{0.__class__}'.format(1) }}",
    "{{ '{0.__class__.__init__.__globals__}'.format_map({}) }}",
    "{{ ('{0.__class' ~ '__}').format(1) }}",
    "{{ '%s' | format(1) }}",
    "{{ '%0999999999d' | format(1) }}",
    "{{ 'a'.center(999999999) }}",
    "{{ 'a'.ljust(999999999) }}",
    "{{ 'a'.zfill(999999999) }}",
    "{{ 'a' * 999999999 }}",
    "{{ [0] * 999999999 }}",
    "{{ 9 ** 9 ** 9 ** 9 }}",
    "{{ '%999999999d' % 1 }}",
    "{{ ''.join.__func__ }}",
    "{{ workload.update({'n': 3}) }}",
    "{{ workload.pop('n') }}",
    "{{ workload.rows.append(1) }}",
    "{{ workload.rows.clear() }}",
    "{{ workload.text.encode() }}",
    "{{ workload.text.translate({}) }}",
    "{{ workload.rows | map('attr', '__class__') | list }}",
    "{{ workload.rows | map(attribute='__class__') | list }}",
    "{{ workload.rows | map(attribute='k.__class__') | list }}",
    "{{ workload.rows | groupby('__class__') }}",
    "{{ workload.rows | sort(attribute='__class__') }}",
    "{{ workload.rows | selectattr('__class__') | list }}",
    "{{ workload.rows | sum(attribute='__class__') }}",
    "{{ (workload.rows | list).__class__ }}",
    "{{ (workload.rows | unique).gi_frame }}",
    "{{ (workload.rows | map('upper')).gi_frame.f_back }}",
    "{% for a in workload.rows %}{{ loop.__class__ }}{% endfor %}",
    "{% for a in workload.rows %}{% for b in workload.rows %}{% endfor %}{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{% from 'os' import popen %}",
    "{% extends 'x' %}",
    "{% macro m() %}{% endmacro %}{{ m.__globals__ }}",
    "{% set x = cycler %}{{ x }}",
    "{% call foo() %}{% endcall %}",
    "{% filter upper %}a{% endfilter %}",
    "{% autoescape false %}{% endautoescape %}",
    "{{ caller() }}",
    "{{ open('/etc/passwd').read() }}",
    "{{ __import__('os') }}",
    "{{ environ }}",
    "{{ secrets.token }}",
    "{{ credentials }}",
    "{{ [1] | batch(60000000, 0) | list | length }}",
    "{{ [1] | slice(60000000) | list | length }}",
    "{{ [[1], [2]] | sum(start=[]) }}",
    "{{ 1 | round(999999999, 'ceil') }}",
    "{{ 15 | round(-999999999) }}",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_there_is_no_way_out(text: str) -> None:
    """Refused when the playbook is registered, or when the template is filled in; never a value."""
    if problems(text):
        return
    with pytest.raises(TemplateFailed):
        evaluated(text, CONTEXT)


@pytest.mark.parametrize("text", ["{{ workload.nothing }}", "{{ nobody }}", "a {{ workload.nothing }} b"])
def test_what_is_undefined_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(TemplateFailed, match=r"nothing|nobody"):
        evaluated(text, CONTEXT)


LONG = "x" * 400_000
LARGE: dict[str, Any] = {
    "message": {"data": {"orders": ["a"] * 1000, "name": LONG}},
}
HUNGRY = [
    "{% for o in message.data.orders %}{{ message.data.name }}: {{ o }}\n{% endfor %}",
    "{% for o in message.data.orders %}{{ message.data }}{% endfor %}",
    "{{ " + " ~ ".join(["message.data.name"] * 500) + " }}",
    "a {{ " + " ~ ".join(["message.data.name"] * 500) + " }}",
    "{{ message.data.orders | map('replace', 'a', message.data.name) | list }}",
    "{{ message.data.orders | map('replace', 'a', message.data.name) | join }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] | map('upper') | list }}",
    "{{ [" + ", ".join(["message.data.name.upper()"] * 500) + "] }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] | string | length }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] | tojson | length }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] | upper | length }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] | join | length }}",
    "{{ {'a': [" + ", ".join(["message.data.name"] * 500) + "]} | urlencode | length }}",
    "{{ [" + ", ".join(["message.data.name"] * 500) + "] }} as text",
]


@pytest.mark.parametrize("text", HUNGRY)
def test_a_large_message_does_not_fill_the_memory(text: str) -> None:
    assert problems(text) == []
    assert _peak(lambda: _refused(text)) < 100_000_000


def test_the_limit_is_for_all_templates_of_a_step_together() -> None:
    tree = {f"k{nth}": "{{ message.data.name.upper() }}" for nth in range(100)}
    assert _peak(lambda: _refused(tree)) < 100_000_000
    assert evaluated(tree["k0"], LARGE) == LONG.upper()


def test_items_that_are_copied_count() -> None:
    with pytest.raises(TemplateFailed, match="characters or items"):
        evaluated("{{ [wide] }}", {"wide": [0] * 10_000_001})


def test_a_long_text_is_handed_on_as_it_is() -> None:
    given = {"fetched": {"body": "x" * 3_000_000}}
    assert evaluated({"body": "{{ fetched.body | default('') }}"}, given) == given["fetched"]


def test_registration_runs_no_filter() -> None:
    """If it did, it would make eighty texts of 100,000 characters and more on the way."""
    grown = "'a'" + " | replace('a', 'aaaaaaaaaa')" * 6
    text = "{{ [" + ", ".join([grown] * 80) + "] }}"
    assert _peak(lambda: problems(text)) < 30_000_000


def _refused(data: Any) -> None:
    with pytest.raises(TemplateFailed, match="characters or items"):
        evaluated(data, LARGE)


def _peak(run: Callable[[], object]) -> int:
    """The bytes that were in use at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
