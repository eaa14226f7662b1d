"""Tests of the memory API connector."""
