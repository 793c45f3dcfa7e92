"""Messages in the shapes that providers speak, both ways: one file per provider. Pure."""
