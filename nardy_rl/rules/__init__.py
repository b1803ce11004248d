"""The rules: variants, positions, plays, outcomes, notation."""
