"""Sweeps: the same experiment over parameters and seeds, and what chance leaves of the difference.

A sweep is a YAML file (docs/sweeps.md). What becomes of it:

    plan        the file, read: parameters, the points that they make, figures
    measuring   a job is a row that is to be; how it is measured in the virtual world
    crew        who does jobs: processes of this machine, or a Dask cluster
    journal     the rows that are done, on disk as soon as they are
    showing     means and their confidence, one Parquet file, figures, a report
"""
