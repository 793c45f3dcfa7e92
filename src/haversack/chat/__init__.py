"""The chat in the terminal: turns, answers, tools and commands over one open store. Only `terminal` draws a prompt."""
