"""One module per family of commands; each lists its commands in COMMANDS."""
