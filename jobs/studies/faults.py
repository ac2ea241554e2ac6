"""What a user can put right: one line, exit code 2."""
import difflib


class Fault(Exception):
    pass


def unknown(where, kind, name, known):
    nearest = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean '{nearest[0]}'? " if nearest else ""
    return Fault(f"{where}: unknown {kind} '{name}'; {hint}known: {', '.join(sorted(known))}")
