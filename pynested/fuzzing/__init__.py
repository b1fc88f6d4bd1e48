"""The fuzzer: calls drawn without end from what can vary in one, for any target."""
