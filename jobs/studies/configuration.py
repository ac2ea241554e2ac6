"""The TOML file of a study, checked."""
import pathlib
import re
import tomllib
from dataclasses import dataclass, field

from .faults import Fault, unknown

# Of the numbers that make a run; each may be a list.
SHAPE = {"nodes": 1, "ranks-per-node": 1, "threads": 1, "batch": None, "seeds": [1]}
# Options of wasp train that a study gives itself, and what to write instead.
OWN = {"protocol": "protocols", "batch": "batch, at the top", "seed": "seeds, at the top",
       "threads": "threads, at the top", "out": "out, at the top", "save-model": None, "resume": None, "unique": None,
       "config": None, "cluster": None, "record-schedule": None, "replay": None}
# What tells the best value of an option: whether less of it is better.
MEASURES = {"samples_to_accuracy": True, "updates_to_accuracy": True, "time_to_accuracy": True, "final_loss": True,
            "final_accuracy": False}
TOP = {"out", "scaling", "protocols", "train", "slurm", "time-limit", "tune", *SHAPE}


@dataclass
class Tuning:
    """Of `option` all values are tried with `seeds`; with the other seeds only the best by `measure`."""
    option: str
    measure: str
    seeds: list


@dataclass
class Entry:
    """A protocol, with its values of everything: lists, of which all combinations are run."""
    protocol: str
    shape: dict
    options: dict
    tune_seeds: list


@dataclass
class Study:
    path: pathlib.Path
    text: str
    out: pathlib.Path
    scaling: str
    time_limit: int  # seconds, of each run
    entries: list = field(default_factory=list)
    tuning: Tuning = None
    concurrent: int = None
    exclusive: bool = True  # whether a run has its nodes for itself
    sbatch_options: list = field(default_factory=list)


def as_list(value):
    return value if isinstance(value, list) else [value]


def check_distinct(where, values):
    if not values:
        raise Fault(f"{where}: an empty list; give one value at least")
    for value in values:
        if values.count(value) > 1:
            raise Fault(f"{where}: {value!r} stands there twice")
    return values


def naturals(where, value, least=1):
    """A whole number or a list of them, as a list."""
    values = as_list(value)
    if not all(type(number) is int and number >= least for number in values):
        raise Fault(f"{where}: {value!r}: expected a whole number from {least}, or a list of them")
    return check_distinct(where, values)


def seconds(where, value):
    """As Slurm writes times: minutes, HH:MM:SS or D-HH:MM:SS."""
    if type(value) is int and value > 0:
        return 60 * value
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)", value) if isinstance(value, str) else None
    total = 0
    if match:
        days, hours, minutes, rest = (int(part or 0) for part in match.groups())
        total = ((24 * days + hours) * 60 + minutes) * 60 + rest
    if not total:
        raise Fault(f"{where}: {value!r}: expected minutes, \"HH:MM:SS\" or \"D-HH:MM:SS\"")
    return total


def text(where, value):
    if not isinstance(value, str) or not value.strip():
        raise Fault(f"{where}: {value!r}: expected a text in quotes")
    return value


def table(where, value):
    if not isinstance(value, dict):
        raise Fault(f"{where}: expected a table")
    return value


def check_keys(where, given, known):
    for key in given:
        if key not in known:
            raise unknown(where, "key", key, known)


def options_of(where, given, known):
    """Options of wasp train, each a list of values.   known: all that there are, or None."""
    options = {}
    for key, value in given.items():
        if key in OWN:
            instead = f"write {OWN[key]}" if OWN[key] else "runs of a study can't have it"
            raise Fault(f"{where}: {key}: {instead}")
        if known is not None and key not in known:
            raise unknown(where, "option of wasp train", key, known - set(OWN))
        values = check_distinct(f"{where}: {key}", as_list(value))
        if not all(isinstance(one, (str, int, float, bool)) for one in values):
            raise Fault(f"{where}: {key}: {value!r}: expected a text, a number, true or false, or a list of them")
        options[key] = values
    return options


def entry_of(where, given, shape, options, tune_seeds, known):
    if isinstance(given, str):
        given = {"protocol": given}
    given = dict(table(where, given))
    if "protocol" not in given:
        raise Fault(f"{where}: a protocol's table needs protocol = \"NAME\"")
    protocol = text(f"{where}: protocol", given.pop("protocol"))
    where = f"{where} ({protocol})"
    shape = shape | {key: naturals(f"{where}: {key}", given.pop(key), int(key != "seeds"))
                     for key in list(given) if key in SHAPE}
    if "tune-seeds" in given:
        tune_seeds = naturals(f"{where}: tune-seeds", given.pop("tune-seeds"), 0)
    return Entry(protocol, shape, options | options_of(where, given, known), tune_seeds)


def tuning_of(where, given):
    check_keys(where, table(where, given), {"option", "by", "seeds"})
    measure = given.get("by", "samples_to_accuracy")
    if measure not in MEASURES:
        raise unknown(f"{where}: by", "measure", str(measure), MEASURES)
    return Tuning(text(f"{where}: option", given.get("option")), measure,
                  naturals(f"{where}: seeds", given.get("seeds", 1), 0))


def read_toml(path):
    try:
        content = pathlib.Path(path).read_text(encoding="utf-8")
        return content, tomllib.loads(content)
    except (OSError, UnicodeDecodeError) as fault:
        raise Fault(f"{path}: {getattr(fault, 'strerror', None) or fault}") from None
    except tomllib.TOMLDecodeError as fault:
        raise Fault(f"{path}: {fault}") from None


def read_study(path, known=None):
    """known: the names of all options of wasp train; None: they are not looked at."""
    content, given = read_toml(path)
    check_keys(path, given, TOP)
    for key in ("protocols", "batch", "time-limit", "out"):
        if key not in given:
            raise Fault(f"{path}: '{key}' is missing")
    scaling = given.get("scaling", "strong")
    if scaling not in ("strong", "weak"):
        raise Fault(f"{path}: scaling: {scaling!r}: expected \"strong\" (batch: images of all workers together) or "
                    "\"weak\" (of each)")
    shape = {key: naturals(f"{path}: {key}", given.get(key, default), int(key != "seeds"))
             for key, default in SHAPE.items()}
    options = options_of(f"{path}: [train]", table(f"{path}: [train]", given.get("train", {})), known)
    slurm = table(f"{path}: [slurm]", given.get("slurm", {}))
    check_keys(f"{path}: [slurm]", slurm, {"concurrent", "exclusive", "options"})
    study = Study(pathlib.Path(path), content, pathlib.Path(text(f"{path}: out", given["out"])), scaling,
                  seconds(f"{path}: time-limit", given["time-limit"]))
    if "tune" in given:
        study.tuning = tuning_of(f"{path}: [tune]", given["tune"])
    if "concurrent" in slurm:
        study.concurrent, = naturals(f"{path}: [slurm]: concurrent", [slurm["concurrent"]])
    study.exclusive = slurm.get("exclusive", True)
    if not isinstance(study.exclusive, bool):
        raise Fault(f"{path}: [slurm]: exclusive: {study.exclusive!r}: expected true or false")
    study.sbatch_options = [text(f"{path}: [slurm]: options", one) for one in as_list(slurm.get("options", []))]
    protocols = as_list(given["protocols"])
    tune_seeds = study.tuning.seeds if study.tuning else []
    study.entries = [entry_of(f"{path}: protocols", one, shape, options, tune_seeds, known) for one in protocols]
    if not study.entries:
        raise Fault(f"{path}: protocols: an empty list; give one at least")
    return study
