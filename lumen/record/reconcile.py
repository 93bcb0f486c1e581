"""At every open: what a crash, a hand or git left behind is found, closed and said.

Looking (`needs_reconciling`) changes nothing and takes no lock, so that a read command costs no more than reading.
Only when something is found is it dealt with, under the lock, after reading again: another process may just have been
at work.
"""

from lumen.errors import RecordError
from lumen.record.fold import Fold
from lumen.record.record import Record
from lumen.record.state_files import Finding


def needs_reconciling(record: Record, fold: Fold) -> bool:
    """Whether something was left behind. A finding without the lock is looked at again under it."""
    if not _looks_unsettled(record, fold):
        return False
    try:
        with record.presence.lock():
            return _looks_unsettled(record, record.fold())
    except RecordError:
        return True


def _looks_unsettled(record: Record, fold: Fold) -> bool:
    return (
        bool(fold.open_changes or fold.open_forgets)
        or any(not record.presence.is_alive(intent.writer) for intent in fold.open_intents.values())
        or any(record.states.needs_settling(name, fold) for name in _state_files(record, fold))
    )


def reconcile(record: Record) -> list[Finding]:
    """Make files and log agree, and close what was interrupted."""
    findings: list[Finding] = []
    with record.presence.lock():
        record.files.remove_leftovers()
        record.journal.reserve.keep()
        fold = record.follower.catch_up()
        for name in _state_files(record, fold):
            findings += record.states.settle(name, record.follower.catch_up())
        for event in list(record.follower.catch_up().open_forgets.values()):
            record.forgetting.finish(event)
            findings.append(Finding("forgotten", "", "an interrupted forgetting was finished"))
        findings += _close_interrupted(record)
    return findings


def _close_interrupted(record: Record) -> list[Finding]:
    """Steps whose process died in the middle: closed as interrupted, shown, never silently run again."""
    findings = []
    for intent in list(record.follower.catch_up().open_intents.values()):
        if record.presence.is_alive(intent.writer):
            continue
        step = str(intent.data.get("step"))
        record.journal.append(
            "kernel",
            step,
            f"The step {step} of {intent.timestamp} was interrupted.",
            event="outcome",
            data={"intent": intent.id, "step": step, "result": "interrupted"},
            turn=intent.turn,
        )
        findings.append(Finding("interrupted", "", f"the step {step}, begun {intent.timestamp}, was interrupted"))
    return findings


def _state_files(record: Record, fold: Fold) -> list[str]:
    """Those on disk and those the log knows: one may be missing."""
    return list(dict.fromkeys([*record.states.names(), *fold.state]))
