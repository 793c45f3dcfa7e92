"""Windows, ledgers, shares and packing: what fits and what it costs. Pure."""
