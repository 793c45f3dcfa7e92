"""On which file system a store lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from haversack.store.sqlite import site, store
from haversack.store.sqlite.place import network_of
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore

_MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 0:31 / /shared rw,noatime - nfs4 server:/export rw,vers=4.2
37 36 8:2 / /shared/near rw - xfs /dev/sdb1 rw
38 22 0:40 / /my\\040share rw - fuse.sshfs me@there: rw
a line of another kind
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/data/m.db", None),
        ("/shared/team/m.db", "nfs4"),
        ("/shared/near/m.db", None),
        ("/sharedness/m.db", None),
        ("/my share/m.db", "sshfs"),
    ],
)
def test_the_nearest_mount_point_decides(tmp_path: Path, path: str, found: str | None) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(_MOUNTS)
    assert network_of(Path(path), mounts) == found


def test_where_nobody_can_tell_nothing_is_said(tmp_path: Path) -> None:
    assert network_of(tmp_path / "m.db", tmp_path / "none") is None


def test_opening_warns_and_the_doctor_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def network(_: Path) -> str:
        return "nfs4"

    for module in (site, store):
        monkeypatch.setattr(module, "network_of", network)
    with pytest.warns(UserWarning, match=r"network file system \(nfs4\): use it from one machine only"):
        SqliteStore(tmp_path / "m.db").close()
    (fault,) = SqliteSite(tmp_path / "m.db").examine()
    assert (fault.code, fault.severe) == ("network", False)
