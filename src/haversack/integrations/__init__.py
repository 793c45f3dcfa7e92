"""Thin adapters for the frameworks people use."""
