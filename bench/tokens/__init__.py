"""Where the files beside the token counters come from."""
