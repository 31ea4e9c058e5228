"""Programs made at random, what their packets must come out as, and whether they do."""
