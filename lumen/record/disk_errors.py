"""What the machine says when a file cannot be read or written, in words for a person, with the next step."""

import errno
from pathlib import Path

from lumen.errors import RecordError, RecordFull, RecordReadOnly


def read_error(path: Path, problem: OSError) -> RecordError:
    if problem.errno == errno.ELOOP:
        return _link(path)
    return RecordError(f"{path} could not be read ({problem.strerror}). Check its permissions.")


def write_error(path: Path, problem: OSError) -> RecordError:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return RecordFull(f"No space left for {path}. Free some space and try again.")
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return RecordReadOnly(f"{path} cannot be written ({problem.strerror}). Check permissions of the data folder.")
    if problem.errno == errno.ELOOP:
        return _link(path)
    return RecordError(f"{path} could not be written ({problem.strerror}). Check the disk.")


def _link(path: Path) -> RecordError:
    return RecordError(f"{path} is a symbolic link, which is not followed. Put the real file there.")
