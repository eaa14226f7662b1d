"""Memory systems of others, each behind an adapter."""
