"""The first lab: one TCP flow, one slow line, and the queue between them."""
