"""HTTP door: versioned REST over the engine, with keys, limits and an audit, and the dakera client on the same port.

`app.create_app` makes the application, `run.serve` listens, `settings` holds what its operator chooses.
"""
