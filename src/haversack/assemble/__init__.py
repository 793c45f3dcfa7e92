"""From candidates to the packed context and the whole prompt. Pure."""
