"""Where memories live: the port in `port`, one back-end per room beside it."""
