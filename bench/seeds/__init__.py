"""The systems that this project grew from, beside its own layouts, on the same sections."""
