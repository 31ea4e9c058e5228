"""Bufferbloat: a web page and a ping beside a download, before a queue that is too long."""
