"""The version of pynested, which setup.cfg reads without an import."""

__version__ = "0.1.0"
