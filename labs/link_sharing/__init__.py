"""Link sharing: two hosts on one line, shared by luck, by classes, by weights, by priority."""
