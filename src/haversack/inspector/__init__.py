"""The inspector: pages in the browser that show what a model would see and why, and let people put it right."""
