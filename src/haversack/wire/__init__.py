"""Translations between the providers' message shapes (plain JSON values) and `haversack.model.message`. Pure.

Reading is tolerant of what real logs hold and strict about shapes that mean nothing (InputError names the path).
Writing gives what the provider's own types accept. What one shape cannot carry (names, picture sizes) is left out.
"""
