"""Commands that this version does not have yet: each says so, instead of pretending or not being known."""

from collections.abc import Callable, Mapping
from typing import Final

from lumen.errors import NotThereYet

# The first two stand in the list of commands; the others answer when they are tried.
LATER: Final[Mapping[str, str]] = {
    "run": "Start the internal loop.",
    "reflect": "Make it examine itself.",
    **dict.fromkeys(("self", "mode", "trace", "replay"), "It comes with the consciousness daemon."),
    **dict.fromkeys(("mandates", "mind", "usage"), "It comes with the action gate and the models."),
    **dict.fromkeys(("history", "diff", "doctor", "service", "pause", "resume"), "It comes with the loops."),
    **dict.fromkeys(("state", "template", "shutdown", "sunset", "dream"), "It comes with the life cycle."),
    **dict.fromkeys(("guard", "backup", "restore", "export", "import"), "It comes with the guard and the seals."),
}
SHOWN: Final = ("run", "reflect")


def not_there_yet(name: str) -> Callable[[], None]:
    def command() -> None:
        raise NotThereYet(
            f"`lumen {name}` is not there yet in this version. What works now: lumen --help; what comes: CHANGELOG.md"
        )

    command.__doc__ = f"{LATER[name]} (not there yet)"
    return command
