"""Executions that started one another, in words."""

from penstock.kernel.families import Children, Parent


def origin(parent: Parent) -> str:
    """What started an execution."""
    if parent.step is None:
        return f"execution {parent.execution_id}"
    return f"step {parent.step} of execution {parent.execution_id} ({parent.playbook_ref})"


def child_lines(children: Children) -> list[str]:
    """A line for each execution that a step has started."""
    lines = [
        f"{one.step or 'a step'} started execution {one.execution_id} of {one.playbook_ref}"
        f"{'' if one.is_awaited else ' and does not wait for it'}: {one.status}"
        for one in children.shown
    ]
    return [*lines, f"and {children.left_out:,} more"] if children.left_out else lines
