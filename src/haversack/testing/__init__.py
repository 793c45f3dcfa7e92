"""What ships for people who extend Haversack: the store contract, scripted services."""
