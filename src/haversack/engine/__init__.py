"""The one thing every door calls: an open store, its namespaces and their sessions."""
