"""How fast and how small: medians of the public verbs on synthetic memories."""
