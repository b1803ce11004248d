"""Write a checkpoint as a bundle: python -m nardy_rl.export checkpoint=runs/…/best.pt out=FOLDER."""

from nardy_rl import cli
from nardy_rl.export.command import Options, export

if __name__ == "__main__":
    cli.run_without_variant(__file__, "export", Options, export)
