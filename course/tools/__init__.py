"""Tools for checks of several exercises."""
