"""A program of its own that stands above a skill where there is no pid namespace: it adopts every orphan of the skill.

    python -I -S reaper.py NOTE COMMAND...

Without it a process that forks twice belongs to nobody and outlives its deadline. It writes the command's exit code to
the descriptor NOTE and stays until the last descendant is gone. It ends nobody: the kernel does.
"""

import ctypes
import os
import signal
import sys

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER


def main(note: int, command: list[str]) -> None:
    os.set_inheritable(note, False)
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(_ADOPT_ORPHANS, 1)
        prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    first = os.fork()
    if first == 0:
        try:
            os.setpgid(0, 0)  # so that it can be ended as a group, without its reaper
            os.execv(command[0], command)
        finally:
            os._exit(127)
    for stream in (0, 1, 2):
        os.close(stream)
    while True:
        try:
            ended, status = os.wait()
        except ChildProcessError:
            os._exit(0)
        if ended == first:
            os.write(note, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(note)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
