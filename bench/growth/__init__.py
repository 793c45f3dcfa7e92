"""How time grows with what is sent: every compiled pattern and every entrance for text, on hostile runs."""
