"""Players: whatever answers a position and a roll with a play."""
