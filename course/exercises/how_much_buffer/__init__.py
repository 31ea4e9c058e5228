"""How much buffer a router needs: numbers that are computed, then measured."""
