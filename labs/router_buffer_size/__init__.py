"""A router's buffer and TCP's algorithms: Cubic, Reno and BBR beside Cubic, with three buffers."""
