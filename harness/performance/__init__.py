"""How fast, how steadily and how safely a memory stores and recalls; docs/performance.md has the words."""
