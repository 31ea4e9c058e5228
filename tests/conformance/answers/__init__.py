"""What simple_switch_CLI is answered by our switch, and by the original."""
