"""Train a bot from nothing by self-play: python train.py variant=short network=medium schedule=standard seed=7."""

from nardy_rl import cli
from nardy_rl.training.command import main
from nardy_rl.training.options import Options

if __name__ == "__main__":
    cli.run(__file__, "train", Options, main)
