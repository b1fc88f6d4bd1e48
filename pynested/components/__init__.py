"""From components to runs and back: how operators take nested arrays apart and put them together."""
