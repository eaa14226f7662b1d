"""Runs: one system over one suite, planned, carried out, journalled and taken up again."""

from __future__ import annotations
