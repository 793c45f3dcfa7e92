"""What all doors that listen share: who calls, how often, how much, how slowly."""
