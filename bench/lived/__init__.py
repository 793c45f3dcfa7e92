"""What people live on: facts beside turns, what holds now, numbers, other scripts, nonsense and whole prompts."""
