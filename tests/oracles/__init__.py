"""What the kit does, recorded as text before a refactoring and compared after each step."""
