"""The command line: one module a command, and nothing but wiring."""
