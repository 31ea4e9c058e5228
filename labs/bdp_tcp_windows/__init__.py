"""The bandwidth-delay product and TCP's windows: one flow over a long fat path, twice."""
