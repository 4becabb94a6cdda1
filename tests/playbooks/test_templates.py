"""Templates: what they give, and the ways out of the sandbox that are shut."""

from typing import Any

import pytest

from penstock.catalog.templates import evaluated, problems
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
    "{{ (workload.rows | batch(1)).gi_frame }}",
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
