"""Small memory servers on loopback, each with an API of another shape."""
