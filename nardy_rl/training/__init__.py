"""Training: self-play, learning, evaluation on the way, checkpoints."""
