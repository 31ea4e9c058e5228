"""The results of the rows: means, a Parquet file, figures, a report; no number changes here."""
