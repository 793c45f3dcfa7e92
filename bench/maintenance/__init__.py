"""How long maintenance takes, and what others notice of it."""
