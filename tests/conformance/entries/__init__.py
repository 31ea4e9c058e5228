"""Random updates of a program's tables, and what P4Runtime says must become of them."""
