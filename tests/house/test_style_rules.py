"""House rules that no linter knows, read from the syntax tree of every module of lumen/.

Each rule is a function from a module to the lines that break it. Where a rule has exceptions, they stand here by name
and with a reason. The examples at the end show that each rule bites.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.repository import ROOT

LONGEST_FILE = 350
LONGEST_LOOP = 120
MOST_BROAD_EXCEPTS = 3

PRINTERS = {"lumen/main.py": "the front door", "lumen/terminal.py": "how results look"}
LATE_IMPORTERS = {
    "lumen/commands/shared.py": "start-up time: a command pays only for what it uses",
    "lumen/app.py": "start-up time: wires only what was asked for",
    "lumen/minds.py": "a mind is imported only when it is the one",
    "lumen/commands/talking.py": "start-up time: the prompt's library only where somebody types",
}
GRANT_CUTTERS = {"lumen/app.py": "the composition root"}
CLEARERS = {"lumen/cortex/clearance.py": "where it is made", "lumen/cortex/cortex.py": "the gate"}
OPENERS = {
    "lumen/record/files.py": "the only opener of data/",
    "lumen/record/presence.py": "lock files in data/run/, which hold nothing",
    "lumen/record/reserve.py": "space held back in data/run/, which holds nothing",
    "lumen/commands/shared.py": "reads a file that the person names",
    "lumen/main.py": "points a closed pipe at the null device",
    "lumen/record/skills.py": "looks into skills/, which is not data/",
    "lumen/instance.py": "makes the folder",
    "lumen/config.py": "reads lumen.toml",
    "lumen/kernel/enclosed_process.py": "the pipes of a skill's process",
    "lumen/kernel/process_tree.py": "reads /proc",
    "lumen/kernel/prompting.py": "reads prompts, shipped and of the instance",
    "lumen/substrate/embed_static.py": "reads the weights inside a package",
    "lumen/substrate/recorded.py": "reads and writes the recording that the person names",
    "lumen/substrate/scripted.py": "reads the script that the person names",
    "lumen/substrate/phrases.py": "reads the phrases that are shipped",
}
SHIPPED_SKILLS = "lumen/skills/"  # programs of their own: they speak on stdout and open what they work on


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    source: str

    def nodes(self) -> Iterator[ast.AST]:
        return ast.walk(ast.parse(self.source))

    def calls(self) -> Iterator[tuple[int, str, ast.Call]]:
        """Line, dotted name as written, and the call. What is called on an expression starts with a dot."""
        for node in self.nodes():
            if isinstance(node, ast.Call):
                yield node.lineno, dotted(node.func), node


def dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(value, attribute):
            return f"{dotted(value)}.{attribute}"
        case ast.Subscript(value, _):
            return dotted(value)
        case _:
            return ""


def probes_with_hasattr(module: Module) -> list[int]:
    return [line for line, name, _ in module.calls() if name == "hasattr"]


def casts(module: Module) -> list[int]:
    return [line for line, name, _ in module.calls() if name.split(".")[-1] == "cast"]


def is_called_utils(module: Module) -> list[int]:
    return [1] if {"utils", "util", "helpers"} & {part.removesuffix(".py") for part in Path(module.name).parts} else []


def is_too_long(module: Module) -> list[int]:
    length = len(module.source.splitlines())
    longest = LONGEST_LOOP if module.name.startswith("lumen/kernel/loops/") else LONGEST_FILE
    return [length] if length > longest else []


def prints(module: Module) -> list[int]:
    if module.name in PRINTERS or module.name.startswith(SHIPPED_SKILLS):
        return []
    return [line for line, name, _ in module.calls() if name == "print"]


def imports_late(module: Module) -> list[int]:
    if module.name in LATE_IMPORTERS:
        return []
    return [
        inner.lineno
        for node in module.nodes()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]


def cuts_grants(module: Module) -> list[int]:
    if module.name in GRANT_CUTTERS:
        return []
    return [line for line, name, _ in module.calls() if any(part.endswith("Grant") for part in name.split(".")[-2:])]


def clears_actions(module: Module) -> list[int]:
    if module.name in CLEARERS:
        return []
    made = [line for line, name, _ in module.calls() if name == "clear" or name.split(".")[-1] == "ClearedAction"]
    return made + [
        node.lineno
        for node in module.nodes()
        if isinstance(node, ast.ImportFrom)
        and node.module == "lumen.cortex.clearance"
        and {"clear", "_SEAL"} & {alias.name for alias in node.names}
    ]


OPENING = {"open", "io.open"}
OPENING |= {f"os.{name}" for name in ("fdopen", "link", "open", "remove", "rename", "replace", "truncate", "unlink")}
OPENING_METHODS = {"read_bytes", "read_text", "touch", "unlink", "write_bytes", "write_text"}
HARMLESS_SHUTIL = {"shutil.disk_usage", "shutil.get_terminal_size", "shutil.which"}


def opens_files(module: Module) -> list[int]:
    """Calls that read or write files. `journal.open(...)` is one only when it is given a file mode or an encoding."""
    if module.name in OPENERS or module.name.startswith(SHIPPED_SKILLS):
        return []
    by_call = [line for line, name, call in module.calls() if touches_a_file(name, call)]
    by_import = [
        node.lineno
        for node in module.nodes()
        if isinstance(node, ast.ImportFrom)
        and any(touches_a_file(f"{node.module}.{alias.name}", None) for alias in node.names)
    ]
    return by_call + by_import


def touches_a_file(name: str, call: ast.Call | None) -> bool:
    room, _, method = name.rpartition(".")
    return (
        name in OPENING
        or (room == "shutil" and name not in HARMLESS_SHUTIL)
        or (call is not None and "." in name and method in OPENING_METHODS)
        or (call is not None and method == "open" and has_a_file_mode(call))
    )


def has_a_file_mode(call: ast.Call) -> bool:
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "mode")]
    modes = [node.value for node in given if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    has_encoding = any(word.arg == "encoding" for word in call.keywords)
    return has_encoding or any(mode and set(mode) <= set("rwaxbt+") for mode in modes)


def catches_everything(module: Module) -> list[int]:
    """Not forbidden, but counted over the whole house: the step runner, the loop, and main may."""
    handlers = [
        node.lineno
        for node in module.nodes()
        if isinstance(node, ast.ExceptHandler) and (node.type is None or is_broad(node.type))
    ]
    return handlers + [
        line for line, name, call in module.calls() if name.endswith("suppress") and any(map(is_broad, call.args))
    ]


def is_broad(node: ast.expr) -> bool:
    caught = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(dotted(each).split(".")[-1] in {"Exception", "BaseException"} for each in caught)


Rule = Callable[[Module], list[int]]
NEVER: list[Rule] = [
    probes_with_hasattr,
    casts,
    is_called_utils,
    is_too_long,
    prints,
    imports_late,
    cuts_grants,
    clears_actions,
    opens_files,
]


def house() -> list[Module]:
    paths = sorted((ROOT / "lumen").rglob("*.py"))
    return [Module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def places(rule: Rule) -> list[str]:
    return [f"{module.name}:{line}" for module in house() for line in rule(module)]


@pytest.mark.parametrize("rule", NEVER, ids=lambda rule: rule.__name__)
def test_no_module_breaks_the_rule(rule: Rule) -> None:
    assert not places(rule)


def test_at_most_three_places_catch_everything() -> None:
    assert len(places(catches_everything)) <= MOST_BROAD_EXCEPTS, places(catches_everything)


@pytest.mark.parametrize("name", sorted(PRINTERS | LATE_IMPORTERS | GRANT_CUTTERS | OPENERS))
def test_every_exception_is_a_module_that_exists(name: str) -> None:
    assert (ROOT / name).is_file()


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (probes_with_hasattr, "hasattr(a, 'b')"),
        (casts, "typing.cast(int, a)"),
        (is_too_long, "a = 1\n" * (LONGEST_FILE + 1)),
        (prints, "print(1)"),
        (imports_late, "async def f():\n    import json"),
        (cuts_grants, "ActionGrant(journal)"),
        (cuts_grants, "grants.PersonGrant(journal)"),
        (cuts_grants, "UpkeepGrant.cut(journal)"),
        (clears_actions, "ClearedAction(action, skill, 'so', seal)"),
        (clears_actions, "from lumen.cortex.clearance import clear"),
        (opens_files, "open('a')"),
        (opens_files, "os.open(a, flags)"),
        (opens_files, "(folder / 'a').read_text()"),
        (opens_files, "path.write_bytes(b'')"),
        (opens_files, "path.open('rb')"),
        (opens_files, "os.replace(a, b)"),
        (opens_files, "from os import replace"),
        (opens_files, "shutil.rmtree(a)"),
        (catches_everything, "try:\n    f()\nexcept:\n    pass"),
        (catches_everything, "try:\n    f()\nexcept (OSError, Exception):\n    pass"),
        (catches_everything, "with contextlib.suppress(Exception):\n    f()"),
    ],
)
def test_the_rule_bites(rule: Rule, source: str) -> None:
    assert rule(Module("lumen/kernel/steps/think.py", source))


def test_a_module_called_utils_is_found() -> None:
    assert is_called_utils(Module("lumen/record/utils.py", ""))


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (clears_actions, "match verdict:\n    case ClearedAction():\n        run(verdict)"),
        (opens_files, "Journal.open(folder)"),
        (opens_files, "text.replace('a', 'b')"),
        (opens_files, "shutil.which('git')"),
        (cuts_grants, "def f(grant: ActionGrant) -> None: grant.remember('a')"),
        (catches_everything, "try:\n    f()\nexcept OSError:\n    pass"),
    ],
)
def test_the_rule_leaves_an_innocent_line_alone(rule: Rule, source: str) -> None:
    assert not rule(Module("lumen/kernel/steps/think.py", source))
