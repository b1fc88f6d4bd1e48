"""The tests; each folder is that of the modules it tests."""
