"""What a memory stores of what it is told: extraction, types, importance, duplicates, updates, users, deletion."""
