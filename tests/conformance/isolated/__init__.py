"""Other projects' networks and scripts, run in namespaces with our programs in PATH."""
