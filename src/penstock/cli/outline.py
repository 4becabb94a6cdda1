"""A playbook's graph as an outline: each step below the first that leads to it."""

from collections.abc import Callable, Iterator

from penstock.catalog.graph import Edge, Graph


def outline(graph: Graph, label: Callable[[Edge], str]) -> Iterator[tuple[str, str]]:
    """A line's text and its step, from the start on; where a step stands already, the text says so and there is none.

    `label` is what stands before a step for the arc that leads to it.
    """
    seen: set[str] = set()
    # not by recursion: a playbook may be a line of a thousand steps
    left = [(graph.start, "", "")]
    while left:
        step, head, below = left.pop()
        if step in seen:
            yield f"{head}{step} ↑", ""
            continue
        seen.add(step)
        yield f"{head}{step}", step
        last = len(graph.out[step]) - 1
        left += [
            (edge.target, f"{below}{'├└'[nth == last]}─ {label(edge)}", below + ("   " if nth == last else "│  "))
            for nth, edge in reversed(list(enumerate(graph.out[step])))
        ]
