"""Two equally good paths, and three ways to choose one: a hash, a pause, what the queues say."""
