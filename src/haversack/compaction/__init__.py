"""Making long sessions short without losing a word: monitor, plan, summary, coordinator."""
