"""How memories age and rise: functions of stored values, timestamps and `now`. Pure."""
