"""Memories that need no model: chunks of conversations, found by words, by embeddings or by both."""
