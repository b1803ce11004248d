"""Put the best net of a run into the box: python checkpoints/fill.py runs/short

What goes there, in a folder named after the variant: `best.pt`, the run's `config.yaml`, in `history` a few of its
earlier nets in half precision, for the learning curve, and in `bundle` the exported bot.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import yaml

from nardy_rl.export.command import Options, export
from nardy_rl.files import replacing
from nardy_rl.network.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.players.box import BEST, BOX, CONFIG, HISTORY

_SHARES = (0.05, 0.15, 0.4, 0.7)  # of the games of the best net: where the earlier ones stood
_GOLDEN_CASES = 128


def main() -> None:
    """Fill the folder of one bot, whatever was there before."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="the folder of the run")
    parser.add_argument("--box", type=Path, default=BOX, help="where the box is, if not here")
    given = parser.parse_args()
    best = load_checkpoint(given.run / BEST)
    folder = given.box / best.variant.name
    shutil.rmtree(folder / HISTORY, ignore_errors=True)
    (folder / HISTORY).mkdir(parents=True)
    save_checkpoint(folder / BEST, best)
    config = yaml.safe_load((given.run / CONFIG).read_text(encoding="utf-8"))
    config["folder"] = f"runs/{best.variant.name}"
    with replacing(folder / CONFIG) as file:
        file.write(yaml.safe_dump(config, sort_keys=False).encode())
    for path in _earlier(given.run, best):
        earlier = load_checkpoint(path)
        earlier.net.half()
        save_checkpoint(folder / HISTORY / path.name, earlier)
    export(Options(str(folder / BEST), str(folder / "bundle"), name=best.variant.name, cases=_GOLDEN_CASES))


def _earlier(run: Path, best: Checkpoint) -> list[Path]:
    """The nets of the run that are nearest to _SHARES of the games of its best one."""
    nets = {int(path.stem): path for path in (run / HISTORY).glob("*.pt") if int(path.stem) < best.games}
    chosen = {min(nets, key=lambda games: abs(games - share * best.games)) for share in _SHARES} if nets else set()
    return [nets[games] for games in sorted(chosen)]


if __name__ == "__main__":
    main()
