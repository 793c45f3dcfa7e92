"""Finding the memories that answer a query: index, signals, fusion."""
