"""How fast this package is, next to its peers in the same run: `python -m benchmarks`."""
