"""Chat services behind one port: OpenAI-compatible, Anthropic, and sentence selection without a model."""
