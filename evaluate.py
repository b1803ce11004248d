"""Measure bots: matches, round robins, positions, decisions: python evaluate.py variant=short a=BOT b=BOT games=10000.

`configs/evaluate.yaml` explains what else can be asked for.
"""

from nardy_rl import cli
from nardy_rl.evaluation.command import Options, main

if __name__ == "__main__":
    cli.run(__file__, "evaluate", Options, main)
