"""The command line of the scripts: Hydra composes the options, this module checks them, every fault is one line.

A script stands next to the folder `configs/` and ends like this; `configs/evaluate.yaml` lists `variant` among its
defaults, and names the same options as the dataclass:

    @dataclass
    class Options:
        a: str = MISSING  # of omegaconf: an option without a default
        games: int = 10_000

    def main(variant: Variant, options: Options) -> None: ...

    if __name__ == "__main__":
        cli.run(__file__, "evaluate", Options, main)

`variant=long` picks a preset, `variant=my_rules.yaml` a rule sheet of the user's own (`load_variant`), and
`variant.head=2` changes one option of either. Fields may be dataclasses themselves, or lists of them; a
`__post_init__` that raises ValueError refuses a value. A text may hold what Hydra would read as more than a text, such
as commas, if its field has `metadata={"as_typed": True}`.

A command whose rules are those of a file that it is given has no option `variant`: `run_without_variant`.
"""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import sys
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import hydra
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException, ValidationError

from nardy_rl.rules.variant import Variant, load_variant, variant, variant_from_dict
from nardy_rl.spelling import nearest

BAD_INPUT = 2
"""Exit code of a script that was asked for something it cannot do."""

_Options = TypeVar("_Options")
_KINDS = {"Integer": "a whole number", "Float": "a number", "bool": "true or false", "String": "a text"}


def run(script: str, config_name: str, schema: type[_Options], main: Callable[[Variant, _Options], None]) -> None:
    """Call `main(variant, options)` with what `sys.argv` asks for on top of `configs/<config_name>.yaml`.

    script: the script's `__file__`. schema: the dataclass of all options but `variant`. A ValueError or OSError of
    `main`, an unknown option and a value that does not fit end the process with exit code 2 and one line on stderr that
    starts with `error: `. HYDRA_FULL_ERROR=1 in the environment gives tracebacks instead.
    """
    names = [*_variant_names(), *_option_names(schema)]

    def task(config: DictConfig) -> None:
        values = _values(config)
        main(_variant(values.pop("variant", None), names), _options(values, schema, names))

    _run(script, config_name, schema, names, task)


def run_without_variant(
    script: str, config_name: str, schema: type[_Options], main: Callable[[_Options], None]
) -> None:
    """As `run`, for a `main(options)` whose options name the file that has the rules."""
    names = list(_option_names(schema))
    _run(script, config_name, schema, names, lambda config: main(_options(_values(config), schema, names)))


def _run(script: str, config_name: str, schema: type, names: list[str], call: Callable[[DictConfig], None]) -> None:
    """`call` with the composed config; names: of all options."""
    as_typed = {option.name for option in dataclasses.fields(schema) if option.metadata.get("as_typed")}
    debugging = os.environ.get("HYDRA_FULL_ERROR") == "1"

    def task(config: DictConfig) -> None:
        try:
            call(config)
        except (ValueError, OSError) as error:
            if debugging:
                raise
            _fail(one_line(error))

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises its errors then, instead of printing them its own way
    configs = Path(script).resolve().parent / "configs"
    try:
        sys.argv[1:] = [_prepared(argument, names, as_typed) for argument in sys.argv[1:]]
        hydra.main(version_base="1.3", config_path=str(configs), config_name=config_name)(task)()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(128 + signal.SIGINT) from None
    except (HydraException, OmegaConfBaseException, ValueError, OSError) as error:
        if debugging:
            raise
        _fail(_hydra_line(error, names))
    finally:
        if not debugging:
            del os.environ["HYDRA_FULL_ERROR"]


def one_line(error: BaseException) -> str:
    """What an error says, in one line; of an OSError the file and the system's reason."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _fail(line: str) -> NoReturn:
    print(f"error: {line}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)


def _prepared(argument: str, names: list[str], as_typed: set[str]) -> str:
    """An argument as Hydra takes it. A user's rule sheet becomes one more member of the config group `variant`."""
    name, equals, value = argument.partition("=")
    if name.startswith("--") and name[2:].split(".")[0] in names:
        raise ValueError(f"options are written without dashes: {name[2:]}={value}")
    if name == "variant" and name in names and equals and value.endswith((".yaml", ".yml")):
        sheet = load_variant(value).to_dict()
        member = f"sheet_{re.sub('[^A-Za-z0-9_]', '_', Path(value).stem)}"
        ConfigStore.instance().store(group="variant", name=member, node=sheet)
        return f"variant={member}"
    if name in as_typed and value not in ("", "null") and value[0] not in "'\"":
        return f"{name}='{value}'" if "'" not in value else f'{name}="{value}"'
    if "." in name and name in names and not name.startswith("variant."):
        return f"++{argument}"  # the dataclass knows it, though a short YAML file may leave it at its default
    return argument


def _values(config: DictConfig) -> dict[str, Any]:
    return typing.cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))


def _variant(sheet: Any, names: list[str]) -> Variant:
    """The variant of a composed config. Raises ValueError naming the option and what is wrong."""
    if not isinstance(sheet, dict):
        raise ValueError("option variant must name a variant, as in variant=long, or a rule sheet")
    for option in sheet:
        if f"variant.{option}" not in names:
            raise ValueError(_unknown(f"variant.{option}", names))
    return variant_from_dict(sheet, source="variant")


def _options(values: dict[str, Any], schema: type[_Options], names: list[str]) -> _Options:
    """The other options of a composed config. Raises ValueError naming the option and what is wrong."""
    try:
        options = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(schema), values))
    except OmegaConfBaseException as error:
        raise ValueError(_option_line(error, names)) from None
    return typing.cast(_Options, options)


def _option_line(error: OmegaConfBaseException, names: list[str]) -> str:
    """What is wrong with an option, from OmegaConf's error about it."""
    key = str(error.full_key)
    if isinstance(error, ConfigKeyError):
        return _unknown(key, names)
    if isinstance(error, MissingMandatoryValue):
        return f"option {key} has no default: write {key}=…"
    said = str(error).splitlines()[0]
    wrong = re.match(r"Value '(.*)' (?:of type '.*' could not be converted to|is not a valid) (\w+)", said)
    if isinstance(error, ValidationError) and wrong and wrong[2] in _KINDS:
        return f"option {key} must be {_KINDS[wrong[2]]}; got {wrong[1]!r}"
    if "is not a ListConfig" in said:
        return f"option {key} must be a list, as in {key}=[…]"
    return f"option {key}: {said}"


def _hydra_line(error: Exception, names: list[str]) -> str:
    """What is wrong with the command line, from Hydra's error about it."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options is not None:
        group, _, member = error.missing_cfg_file.rpartition("/")
        return _unknown_member(group, member, error.options)
    if isinstance(error, OverrideParseException):
        wanted = "put the value in quotes, as in key='\"a (b)\"'" if "=" in error.override else "write key=value"
        return f"cannot read {error.override!r}: {wanted}"
    said = str(error) or str(error.__cause__)
    key = re.match(r"Could not (?:override|delete from config\. The value of|delete from config\.) '([^']+)'", said)
    if key:
        return _unknown(key[1], names)
    return one_line(error) if str(error) else " ".join(said.split())


def _unknown_member(group: str, member: str, known: Iterable[str]) -> str:
    if group == "variant":
        try:
            variant(member)
        except ValueError as error:
            return f"{error}{nearest(member, known)}"
    return f"unknown {group} {member!r}; known are {', '.join(known)}{nearest(member, known)}"


def _unknown(key: str, names: list[str]) -> str:
    """The complaint about an option that does not exist: its nearest namesake, and its would-be siblings."""
    plain = re.sub(r"\[\d+\]", "", key)
    parent = plain.rpartition(".")[0]
    siblings = [name for name in names if name.rpartition(".")[0] == parent]
    siblings = siblings or [name for name in names if "." not in name]
    return f"unknown option {key}; known are {', '.join(sorted(siblings))}{nearest(plain, siblings)}"


def _variant_names() -> list[str]:
    """The dotted names of all options of a rule sheet, and that of the sheet itself."""
    return ["variant", *(f"variant.{field.name}" for field in dataclasses.fields(Variant))]


def _option_names(schema: Any, prefix: str = "") -> Iterator[str]:
    """The dotted names of all options of a dataclass, those of nested dataclasses and of lists of them included."""
    for name, hint in typing.get_type_hints(schema).items():
        yield prefix + name
        for inner in (hint, *typing.get_args(hint)):
            if dataclasses.is_dataclass(inner):
                yield from _option_names(inner, f"{prefix}{name}.")
