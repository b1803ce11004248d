"""Put the best net of a run into the box: python checkpoints/fill.py runs/short

What goes there, in a folder named after the variant, in place of what was there: `best.pt`, the run's `config.yaml`, in
`history` a few of its earlier nets, for the learning curve, and in `bundle` the exported bot. Weights are kept in half
precision. `bundles.json` lists the bundles for the page in `clients/js`. Needs the extra `export`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

import yaml

from nardy_rl.cli import BAD_INPUT, one_line
from nardy_rl.export.command import Options, export
from nardy_rl.files import replacing
from nardy_rl.network.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.players.box import BEST, BOX, CONFIG, HISTORY

_SHARES = (0.05, 0.15, 0.4, 0.7)  # of the training time of the best net: where the earlier ones stood
_GOLDEN_CASES = 128


def main() -> None:
    """Fill the folder of one bot, whatever was there before. A fault is one line, and exit code 2."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="the folder of the run")
    parser.add_argument("--box", type=Path, default=BOX, help="where the box is, if not here")
    given = parser.parse_args()
    try:
        _fill(given.run, given.box)
    except (ValueError, OSError, yaml.YAMLError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None


def _fill(run: Path, box: Path) -> None:
    """Read everything first, so that a run that lacks something leaves the box as it is."""
    best = load_checkpoint(run / BEST)
    folder = box / best.variant.name
    if run.resolve() == folder.resolve():
        raise ValueError(f"{run} is the bot in the box itself, not a run")
    earlier = _earlier(run, best)
    config = yaml.safe_load((run / CONFIG).read_text(encoding="utf-8"))
    config["folder"] = f"runs/{best.variant.name}"
    folder.mkdir(parents=True, exist_ok=True)
    best.net.half()
    save_checkpoint(folder / BEST, best)
    with replacing(folder / CONFIG) as file:
        file.write(yaml.safe_dump(config, sort_keys=False).encode())
    shutil.rmtree(folder / HISTORY, ignore_errors=True)
    (folder / HISTORY).mkdir()
    for name, checkpoint in earlier.items():
        checkpoint.net.half()
        save_checkpoint(folder / HISTORY / name, checkpoint)
    export(Options(str(folder / BEST), str(folder / "bundle"), name=best.variant.name, cases=_GOLDEN_CASES))
    bundles = sorted(card.parent.relative_to(box).as_posix() for card in box.glob("*/bundle/card.json"))
    with replacing(box / "bundles.json") as file:
        file.write(json.dumps({"bundles": bundles}).encode() + b"\n")


def _earlier(run: Path, best: Checkpoint) -> dict[str, Checkpoint]:
    """The nets of the run that are nearest to _SHARES of the time that its best one took, by their files' names."""
    nets = {path.name: load_checkpoint(path) for path in (run / HISTORY).glob("*.pt") if path.stem.isdigit()}
    nets = {name: net for name, net in nets.items() if net.games < best.games}
    chosen = {min(nets, key=lambda name: abs(nets[name].seconds - share * best.seconds)) for share in _SHARES if nets}
    return {name: nets[name] for name in chosen}


if __name__ == "__main__":
    main()
