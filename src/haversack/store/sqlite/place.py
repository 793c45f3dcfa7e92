"""Where a file lies: SQLite's write-ahead log wants all processes that use it on one machine."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ONE_MACHINE", "network_of"]

ONE_MACHINE = "use it from one machine only, or let `haversack serve` there answer the others"
_NETWORK = {
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
    "smbfs",
    "sshfs",
}
_MOUNTS = Path("/proc/self/mountinfo")
"""Linux's list of mounts, as proc_pid_mountinfo(5) describes it; other systems have none."""
_POINT = 4
"""The place of the mount point among a line's fields."""


def network_of(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The network file system that a file lies on; None for a disk of this machine, and where nobody can tell."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    place, found = path.absolute().parent.resolve(), ("", "")
    for line in lines:
        before, _, after = line.partition(" - ")
        if len(fields := before.split()) > _POINT and after:
            point = fields[_POINT].replace("\\040", " ")
            if place.is_relative_to(point) and len(point) >= len(found[0]):
                found = point, after.split()[0].removeprefix("fuse.")
    return found[1] if found[1] in _NETWORK else None
