"""Memories that one model writes and another reads: notes and cards.

For each conversation a writer sees its memory as it stands and the new conversation only, never
an earlier transcript and never the question. It works by operations on the memory (`store`), in
steps (`writer`). For a question the whole memory is handed back, unranked, last written first;
the reader cuts it to the run's budget.
"""
