"""The kit's behaviour, recorded as text before a refactoring and compared after each step."""
