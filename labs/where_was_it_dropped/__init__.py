"""Where was it dropped, and why: drop reports of every packet against the routers' counters."""
