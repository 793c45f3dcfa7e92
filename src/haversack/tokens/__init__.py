"""Counting tokens: exactly where the vocabulary is at hand, with a stated bound where it is not. Never online."""
