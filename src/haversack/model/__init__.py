"""The words of the model as frozen values: memories, messages, turns, filters, times. No I/O, no clock."""
