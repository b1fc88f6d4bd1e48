"""Arguments in the form in which rules take them, or a clear error."""
