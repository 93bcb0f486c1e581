"""files: looks into folders that the person allowed. It only reads. Standard library only; runs on its own.

Every path is resolved first and must lie in an allowed folder then, so that neither `..` nor a link leads out. What
looks like a secret is not shown, and does not show up in lists either.
"""

import argparse
import fnmatch
import json
import os
import stat
import sys
from collections.abc import Iterator

HELP = """Look into folders, notes and documents that the person allowed: list a folder, open, read and show a text
file, search and find files by name or content. It only reads.
Without "do" a folder is listed and a file is read; with a query, files are found below the path.
Output (stdout): one JSON object {"ok": true, "text": "..."}, or {"ok": false, "error": "..."} and exit code 1."""
EPILOG = 'Input (stdin): one JSON object {"path": "notes/today.md", "do?": "list|read|find", "query?": "words"}'
HOW_TO_ALLOW = 'No folder is allowed. The person can allow some in lumen.toml:\n\n[skills.files]\nfolders = ["~/notes"]'

SECRET_NAMES = (
    *(".env*", "*.key", "*.pem", "*.p12", "*.pfx", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *(".netrc", ".git-credentials", ".npmrc", ".pypirc", ".htpasswd", "credentials", "credentials.json"),
    *(".ssh", ".aws", ".gnupg", ".kube", ".docker", ".git", "secrets"),
)
READ_LIMIT = 32 * 1024
SEARCH_READ_LIMIT = 1024 * 1024
LIST_LIMIT = 200
FOUND_LIMIT = 40
WALK_LIMIT = 20_000
BYTES_LIMIT = 64 * 1024 * 1024


class No(Exception):
    """The answer is no, in words for the person."""


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(prog="files", description=HELP, epilog=EPILOG, formatter_class=raw).parse_args()
    try:
        answer = look(json.load(sys.stdin))
    except (No, ValueError, TypeError, KeyError, OSError, RecursionError) as problem:
        words = str(problem) if isinstance(problem, No) else f"{type(problem).__name__}: {problem}"
        print(json.dumps({"ok": False, "error": words}))
        return 1
    print(json.dumps({"ok": True, **answer}))
    return 0


def look(request: object) -> dict[str, object]:
    if not isinstance(request, dict):
        raise No("The input must be one JSON object.")
    folders = allowed_folders(request.get("settings"))
    path = text_of(request, "path")
    query = text_of(request, "query")
    real = resolved(path or folders[0], folders)
    wanted = text_of(request, "do") or ("find" if query else "list" if os.path.isdir(real) else "read")
    if wanted == "find":
        if not query:
            raise No("What shall be found? Give a query.")
        return find(real, query, folders)
    if wanted == "list":
        return listing(real, folders)
    if wanted == "read":
        return reading(real)
    raise No(f'"do" is list, read or find, not {wanted[:40]!r}.')


def text_of(request: dict[str, object], name: str) -> str:
    value = request.get(name, "")
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value:
        raise No(f'"{name}" must be a text.')
    return value.strip()


def allowed_folders(settings: object) -> list[str]:
    """Real paths of the folders that are allowed and exist."""
    named = settings.get("folders") if isinstance(settings, dict) else None
    if not isinstance(named, list) or not named:
        raise No(HOW_TO_ALLOW)
    real = [os.path.realpath(os.path.expanduser(name)) for name in named if isinstance(name, str) and name.strip()]
    there = [folder for folder in real if os.path.isdir(folder)]
    if not there:
        raise No(f"None of the allowed folders is there: {', '.join(map(str, named))}.")
    return there


def resolved(path: str, folders: list[str]) -> str:
    """Where a path really leads. One that is not absolute is looked for in each allowed folder."""
    expanded = os.path.expanduser(path)
    tried = [expanded] if os.path.isabs(expanded) else [os.path.join(folder, expanded) for folder in folders]
    allowed = [real for real in map(os.path.realpath, tried) if is_allowed(real, folders)]
    if not allowed:
        raise No(f"{path} is not in an allowed folder. Allowed: {', '.join(folders)}.")
    there = [real for real in allowed if os.path.exists(real)]
    if not there:
        raise No(f"There is no {path} in the allowed folders.")
    return there[0]


def is_allowed(real: str, folders: list[str]) -> bool:
    """Below an allowed folder, and nothing on the way from there that looks like a secret."""
    for folder in folders:
        if real == folder or real.startswith(folder.rstrip(os.sep) + os.sep):
            return not any(is_secret(part) for part in os.path.relpath(real, folder).split(os.sep))
    return False


def is_secret(name: str) -> bool:
    return any(fnmatch.fnmatch(name.lower(), pattern) for pattern in SECRET_NAMES)


def listing(folder: str, folders: list[str]) -> dict[str, object]:
    if not os.path.isdir(folder):
        raise No(f"{folder} is not a folder.")
    entries = sorted(entry for entry in os.listdir(folder) if is_allowed(inside(folder, entry), folders))
    lines = [described(folder, entry) for entry in entries[:LIST_LIMIT]]
    more = [f"and {len(entries) - LIST_LIMIT} more"] if len(entries) > LIST_LIMIT else []
    text = "\n".join([f"{folder}: {len(entries)} entries", *lines, *more])
    return {"path": folder, "entries": entries[:LIST_LIMIT], "count": len(entries), "text": text}


def inside(folder: str, entry: str) -> str:
    return os.path.realpath(os.path.join(folder, entry))


def described(folder: str, entry: str) -> str:
    path = os.path.join(folder, entry)
    try:
        found = os.stat(path)
    except OSError:
        return f"  {entry} (leads nowhere)"
    return f"  {entry}/" if stat.S_ISDIR(found.st_mode) else f"  {entry} ({found.st_size} bytes)"


def reading(path: str) -> dict[str, object]:
    if os.path.isdir(path):
        raise No(f"{path} is a folder; it can be listed.")
    content, size = content_of(path, READ_LIMIT)
    if is_binary(content):
        return {"path": path, "bytes": size, "binary": True, "text": f"{path} is not a text file ({size} bytes)."}
    text = content.decode("utf-8", "replace")
    is_cut = size > len(content)
    note = f"\n[the first {len(content)} of {size} bytes]" if is_cut else ""
    return {"path": path, "bytes": size, "truncated": is_cut, "text": text + note}


def content_of(path: str, limit: int) -> tuple[bytes, int]:
    """The beginning of a regular file and its size. Looked at before it is opened (a device may act) and after."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise No(f"{path} is not a regular file.")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise No(f"{path} is not a regular file.")
        return file.read(limit), found.st_size


def is_binary(content: bytes) -> bool:
    if b"\0" in content:
        return True
    return content[:4096].decode("utf-8", "replace").count("\ufffd") > len(content[:4096]) // 20 + 1


def find(start: str, query: str, folders: list[str]) -> dict[str, object]:
    """Files below a path whose name or content holds the query, names first. Letters' case does not matter."""
    wanted = query.casefold()
    by_name: list[str] = []
    by_content: list[tuple[str, str]] = []
    looked = size = 0
    is_whole = True
    for path in files_below(start, folders):
        looked += 1
        if looked > WALK_LIMIT or size > BYTES_LIMIT or len(by_name) + len(by_content) >= FOUND_LIMIT:
            is_whole = False
            break
        if wanted in os.path.basename(path).casefold():
            by_name.append(path)
            continue
        try:
            content, _ = content_of(path, SEARCH_READ_LIMIT)
        except (No, OSError):
            continue
        size += len(content)
        line = "" if is_binary(content) else line_with(wanted, content.decode("utf-8", "replace"))
        if line:
            by_content.append((path, line))
    lines = [f"  {path}" for path in by_name] + [f"  {path}: {line}" for path, line in by_content]
    found = [*by_name, *(path for path, _ in by_content)]
    head = f"{len(found)} found for {query!r} below {start}" + ("" if is_whole else " (the search was cut short)")
    return {"path": start, "found": found, "whole": is_whole, "text": "\n".join([head, *lines])}


def files_below(start: str, folders: list[str]) -> Iterator[str]:
    """Regular files, each where it really is; links are not walked into."""
    if not os.path.isdir(start):
        yield start
        return
    for folder, inner, names in os.walk(start):
        inner[:] = sorted(name for name in inner if is_allowed(inside(folder, name), folders))
        for name in sorted(names):
            path = inside(folder, name)
            if is_allowed(path, folders) and os.path.isfile(path):
                yield path


def line_with(wanted: str, text: str) -> str:
    for line in text.splitlines():
        if wanted in line.casefold():
            return line.strip()[:160]
    return ""


if __name__ == "__main__":
    sys.exit(main())
