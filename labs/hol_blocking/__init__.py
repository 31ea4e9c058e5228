"""Head-of-line blocking: FIFO input queues against VOQs, in theory and with TCP."""
