"""`share`: proposals to copy a private memory into a shared namespace, and their decision."""

from __future__ import annotations

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.errors import InputError
from haversack.lifecycle.proposals import Proposal

__all__ = ["COMMANDS"]


@click.command()
@click.argument("memory_id", metavar="[ID]", required=False)
@click.option("--to", "shared", metavar="NAMESPACE", help="Propose the memory ID for this namespace.")
@click.option("--accept", metavar="PROPOSAL", help="Accept a proposal to this namespace: the memory is copied here.")
@click.option("--reject", metavar="PROPOSAL", help="Reject a proposal to this namespace.")
@click.option("--by", metavar="NAME", help="Who proposes or decides.")
@place
def share(
    place: Place, memory_id: str | None, *, shared: str | None, accept: str | None, reject: str | None, by: str | None
) -> None:
    """Propose a memory for a shared namespace, decide on proposals, or list those from and to this namespace.

    Nothing is shared before somebody accepts it in the shared namespace; the copy says who proposed and who accepted.

    \b
    Examples:
      haversack share 01J9ZK3V6W8X4Y2T5R7Q0M1N2P --to team --by alice --namespace alice
      haversack share --namespace team
      haversack share --accept 01J9ZK3V6W8X4Y2T5R7Q0M1N2P --by bob --namespace team
    """
    if sum(each is not None for each in (memory_id, accept, reject)) > 1:
        raise InputError("give only one of ID, --accept and --reject")
    if (memory_id is None) != (shared is None):
        raise InputError("a proposal takes a memory's ID and --to NAMESPACE")
    with place.open_namespace() as ns:
        if memory_id is not None and shared is not None:
            told = [ns.maintenance.propose(memory_id, shared=shared, author=_name(by))]
        elif (chosen := accept or reject) is not None:
            told = [ns.maintenance.decide(chosen, accept=accept is not None, by=_name(by))[0]]
        else:
            told = ns.maintenance.proposals()
    if place.as_json:
        show.json_line(told)
        return
    show.table(("proposal", "memory", "from", "to", "author", "standing", "by"), map(_row, told), empty="no proposals")


def _name(by: str | None) -> str:
    if by is None:
        raise InputError("say who it is: --by NAME")
    return by


def _row(proposal: Proposal) -> tuple[object, ...]:
    asked = proposal.asked
    standing = (proposal.standing, proposal.decided_by or "")
    return asked.proposal, asked.memory, asked.private, asked.shared, asked.author, *standing


COMMANDS = [share]
