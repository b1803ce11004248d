"""Self-play: games by the thousand, and the targets that are learnt from them."""
