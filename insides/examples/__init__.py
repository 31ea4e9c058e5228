"""The router's own parts again, each in some thirty lines. They decide exactly the same."""
