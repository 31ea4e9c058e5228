"""Several equal paths, and flows that are spread over them without being torn."""
