"""Whether the memory says what is so: sets of our own writing."""
