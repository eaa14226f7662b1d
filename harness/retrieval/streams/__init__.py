"""Ways to find memories: by words, by vectors, by entities, by links, in raw messages, and fused."""
