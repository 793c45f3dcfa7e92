"""Signals and how they blend: numbers from 0 to 1, higher is better. Pure."""
