"""Trees of messages."""

from datetime import UTC, datetime

import pytest

from haversack.errors import InputError
from haversack.transfer.branch import Node, active_branch, newest_leaf


def tree(**parents: str | None) -> dict[str, Node]:
    return {name: Node(parent=parent, at=None) for name, parent in parents.items()}


def test_from_the_root_down():
    assert active_branch(tree(a=None, b="a", c="a", d="c"), "d") == ["a", "c", "d"]


def test_an_unknown_parent_ends_the_way():
    assert active_branch(tree(b="gone", c="b"), "c") == ["b", "c"]


@pytest.mark.parametrize("nodes", [tree(a="b", b="a"), tree(a="a", b="a")])
def test_a_circle_is_refused(nodes: dict[str, Node]):
    with pytest.raises(InputError, match="its parents form a circle at"):
        active_branch(nodes, "b")


def test_the_newest_leaf_is_the_latest_and_then_the_last():
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    nodes = {
        "root": Node(parent=None, at=late),
        "old": Node(parent="root", at=early),
        "new": Node(parent="root", at=late),
        "undated": Node(parent="root", at=None),
    }
    assert newest_leaf(nodes) == "new"
    assert newest_leaf(tree(root=None, a="root", b="root")) == "b"


def test_no_leaf_is_a_circle():
    with pytest.raises(InputError, match=r"^its parents form a circle$"):
        newest_leaf(tree(a="b", b="a"))
