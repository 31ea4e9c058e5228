"""What checks of several exercises use."""
