"""The labs, one folder each, and what they share: sampling, the live view, the report."""
