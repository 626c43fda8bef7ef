"""`diagnose serve`: failures are announced over HTTP, diagnosed one by one, and the answers kept."""
