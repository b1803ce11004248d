"""Evaluation: matches between bots with duplicated dice, and what may be concluded from them."""
