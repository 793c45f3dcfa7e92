"""The routes by subject: each parses, calls one engine verb, and answers."""
