"""A row of a sweep: what it depends on, and how it is measured; code that can change a number."""
