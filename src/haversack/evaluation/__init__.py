"""Recall under a budget: how much of the evidence that answers a question stands in the packed context."""
