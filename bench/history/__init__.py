"""Fitting a conversation with tool calls into a window: ours beside the trimmers that people use."""
