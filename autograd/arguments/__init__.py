"""Checks of arguments, which return them in the form that primitives take, or raise an error."""
