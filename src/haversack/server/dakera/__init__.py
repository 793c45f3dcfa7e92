"""The dakera client's own routes, so that the released client works unchanged; an agent there is a namespace here."""
