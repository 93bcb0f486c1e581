"""Every error this program raises on purpose, split by who must act.

    LumenError
    |-- UsageError            the person typed something that cannot be done as typed
    |   |-- NoInstance        there is no instance here
    |   `-- NotThereYet       a command that this version does not have
    |-- Refused               the request is understood and the answer is no
    |-- InstanceError         the instance itself needs a person's hand
    |   |-- BrokenConfig      lumen.toml cannot be read
    |   |-- UnknownFormat     written by a newer program
    |   `-- BrokenState       values, goals or soul cannot be used as they are
    |-- RecordError           the record could not be read or written
    |   |-- RecordBusy        another process holds the state for too long
    |   |-- RecordFull        no space left
    |   `-- RecordReadOnly    a sync failed, or the folder cannot be written: nothing more is acknowledged
    |-- OutputFailed          what was done could not be told
    `-- StepError             a step of the kernel did not finish
        |-- StepFailed
        `-- StepTimeout

A message says what was wanted, what was there, and what to do next. Errors carry facts and do nothing.
"""


class LumenError(Exception):
    """The root: caught in main.py, shown as one clear line."""

    exit_code = 1


class UsageError(LumenError):
    exit_code = 2


class NoInstance(UsageError):
    pass


class NotThereYet(UsageError):
    pass


class Refused(LumenError):
    pass


class InstanceError(LumenError):
    exit_code = 3


class BrokenConfig(InstanceError):
    pass


class UnknownFormat(InstanceError):
    pass


class BrokenState(InstanceError):
    pass


class RecordError(LumenError):
    exit_code = 4


class RecordBusy(RecordError):
    pass


class RecordFull(RecordError):
    pass


class RecordReadOnly(RecordError):
    pass


class OutputFailed(LumenError):
    exit_code = 4


class StepError(LumenError):
    exit_code = 5


class StepFailed(StepError):
    pass


class StepTimeout(StepError):
    pass
