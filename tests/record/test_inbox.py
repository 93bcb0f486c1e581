"""What waits for a yes: asked once, answered by a person, run by the first who claims it."""

import multiprocessing
from datetime import timedelta
from pathlib import Path

import pytest

from lumen.errors import Refused
from lumen.record.inbox import DAYS, Waiting
from lumen.turn import Action
from tests.instances import MORNING, events, made, opened

ACTION = Action("weather", {"place": "Oslo"})


def asked(home: Path, action: Action = ACTION, sha256: str = "a" * 64) -> Waiting:
    with opened(home, MORNING) as lumen:
        return lumen.action_grant("turn").inbox.ask(
            action, skill_sha256=sha256, kind="weather:request", predicted=0.2, reasons=["unknown"]
        )


def standing(home: Path, days: float = 0) -> list[str]:
    with opened(home, MORNING + timedelta(days=days)) as lumen:
        return [entry.standing for entry in lumen.inbox.all()]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made(tmp_path / "home")


def test_what_is_asked_waits_with_its_action_verbatim(home: Path) -> None:
    asked(home)
    with opened(home, MORNING) as lumen:
        (entry,) = lumen.inbox.waiting()
    assert (entry.action, entry.skill_sha256, entry.predicted, entry.turn) == (ACTION, "a" * 64, 0.2, "turn")


def test_the_same_action_is_not_asked_twice_while_it_waits(home: Path) -> None:
    assert asked(home).id == asked(home).id
    assert asked(home, Action("weather", {"place": "Rome"})).id != asked(home).id
    assert asked(home, sha256="b" * 64).id != asked(home).id
    assert len(events(home, "asked")) == 3


def test_an_entry_that_nobody_answers_is_denied_in_the_end(home: Path) -> None:
    entry = asked(home)
    assert standing(home, DAYS - 0.1) == ["waiting"]
    assert standing(home, DAYS) == ["expired"]
    with opened(home, MORNING + timedelta(days=DAYS)) as lumen, pytest.raises(Refused, match="expired"):
        lumen.person_grant().inbox.answer(lumen.inbox.find(entry.id), "yes", by="Ada")


def test_a_yes_that_was_not_carried_out_in_time_expires_too(home: Path) -> None:
    entry = asked(home)
    with opened(home, MORNING) as lumen:
        lumen.person_grant().inbox.answer(entry, "yes", by="Ada")
    assert standing(home) == ["approved"]
    assert standing(home, DAYS + 1) == ["expired"]


def test_a_no_is_final(home: Path) -> None:
    entry = asked(home)
    with opened(home, MORNING) as lumen:
        inbox = lumen.person_grant().inbox
        inbox.answer(entry, "no", by="Ada")
        with pytest.raises(Refused, match="denied"):
            inbox.answer(inbox.find(entry.id), "yes", by="Ada")
        assert not inbox.claim(entry)
    assert standing(home) == ["denied"]


def test_a_no_after_a_yes_counts_until_it_is_claimed(home: Path) -> None:
    entry = asked(home)
    with opened(home, MORNING) as lumen:
        inbox = lumen.person_grant().inbox
        inbox.answer(entry, "yes", by="Ada")
        inbox.answer(inbox.find(entry.id), "no", by="Ada")
        assert not inbox.claim(entry)


def test_a_claim_without_an_end_may_have_run(home: Path) -> None:
    entry = asked(home)
    with opened(home, MORNING) as lumen:
        inbox = lumen.person_grant().inbox
        inbox.answer(entry, "yes", by="Ada")
        assert inbox.claim(entry)
    assert standing(home) == ["may have run"]
    assert standing(home, 100) == ["may have run"], "that it may have run does not expire"


def claims(home: Path, identity: str, results: "multiprocessing.Queue[bool]") -> None:
    with opened(home) as lumen:
        inbox = lumen.person_grant().inbox
        entry = inbox.find(identity)
        if entry.standing != "may have run":
            results.put(inbox.claim(entry))


def test_of_five_that_claim_at_once_one_may_run_it(home: Path) -> None:
    context = multiprocessing.get_context("fork")
    for number in range(4):
        with opened(home) as lumen:
            entry = lumen.action_grant().inbox.ask(
                Action("weather", {"n": number}), skill_sha256="a", kind="k", predicted=0.0, reasons=[]
            )
            lumen.person_grant().inbox.answer(entry, "yes", by="Ada")
        results: multiprocessing.Queue[bool] = context.Queue()
        workers = [context.Process(target=claims, args=(home, entry.id, results)) for _ in range(5)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
            assert worker.exitcode == 0
        assert [results.get(timeout=5) for _ in range(results.qsize())].count(True) == 1


def test_an_entry_is_found_by_its_short_id_and_alone_without_one(home: Path) -> None:
    entry = asked(home)
    with opened(home, MORNING) as lumen:
        assert lumen.inbox.find(entry.short_id).id == lumen.inbox.find("").id == entry.id
        with pytest.raises(Refused, match=entry.short_id):
            lumen.inbox.find("nobody")
    asked(home, Action("weather", {"place": "Rome"}))
    with opened(home, MORNING) as lumen, pytest.raises(Refused, match="Say which"):
        lumen.inbox.find("")


def test_the_inbox_is_the_same_after_the_fold_was_kept(home: Path) -> None:
    asked(home)
    with opened(home, MORNING) as lumen:
        for number in range(220):
            lumen.person_grant().memory.remember("external", "s", str(number))
        lumen.reader.fold()
    assert (home / "data" / "index" / "fold.json").exists()
    assert standing(home) == ["waiting"]
    with opened(home, MORNING) as lumen:
        assert lumen.inbox.waiting()[0].action == ACTION
