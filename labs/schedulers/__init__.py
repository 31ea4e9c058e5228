"""Schedulers: strict priority, WRR, DRR and WFQ before one line."""
