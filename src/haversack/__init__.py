"""Haversack: the memory and context-budget engine for LLM agents."""
