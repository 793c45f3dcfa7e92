"""Measurements of Haversack, alone and beside the tools that people use today; nothing here is shipped."""
