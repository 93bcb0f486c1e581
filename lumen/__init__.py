"""Lumen: an agent with a self that you can audit."""

__version__ = "0.1.0"
