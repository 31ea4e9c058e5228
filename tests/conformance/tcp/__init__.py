"""Our hosts' TCP against Linux's, through the same router in the same network."""
