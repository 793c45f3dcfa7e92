"""One reader per format: `detect` says whether the first values look like it, `read` turns values into entries."""
