"""From turns to memories: rules in plain forms without a model, one structured call per batch with one."""
