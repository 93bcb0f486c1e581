"""The mind without a model: it answers from the record alone, at once, and the same every time.

Its law: every sentence it says is a quotation of the record with its source, a count, or a frame of `phrases.yaml`. It
knows nothing of the world and invents nothing. It sees only the typed question, and spends nothing.
"""

from typing import Any, Final, TypeVar

from lumen.errors import Refused
from lumen.ports import Embedder
from lumen.questions import DecideQuestion, Question, RecordQuestion, ThinkQuestion, Utterance
from lumen.substrate.acts import ActReader
from lumen.substrate.deciding import decide
from lumen.substrate.phrases import phrases
from lumen.substrate.thinking import Thinking
from lumen.turn import Outcome, SkillResult, Usage

T = TypeVar("T")

SAME_QUESTION: Final = 0.9
RAN, FAILED, TIMED_OUT, NOT_RUN = 0.3, -0.5, -0.8, -0.2
THANKED, CORRECTED, ASKED_AGAIN = 0.9, -0.7, -0.5


class Reflex:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._phrases = phrases()
        self._acts = ActReader(embedder, self._phrases)
        self._thinking = Thinking(embedder, self._phrases, self._acts)

    @property
    def name(self) -> str:
        return "reflex"

    @property
    def usage(self) -> Usage:
        return Usage()

    async def judge(self, question: Question[T]) -> T:
        answer: T | None = self._answer(question)
        if answer is None:
            raise Refused(f"reflex has no answer to the step {question.step}: configure a model for it.")
        return answer

    def _answer(self, question: object) -> Any:
        match question:
            case ThinkQuestion():
                return self._thinking.think(question)
            case DecideQuestion():
                return decide(question, self._embedder)
            case RecordQuestion():
                return self._outcome(question)
            case _:
                return None

    def _outcome(self, question: RecordQuestion) -> Outcome:
        first = question.before or self._ran(question.result)
        return first if question.next_said is None else self._amended(first, question.answered_to, question.next_said)

    def _ran(self, result: SkillResult | None) -> Outcome:
        words = self._phrases.outcomes
        if result is None:
            return Outcome(words["not_run"], NOT_RUN)
        if result.is_timeout:
            return Outcome(words["timeout"], TIMED_OUT)
        return Outcome(words["ok"], RAN) if result.is_ok else Outcome(words["failed"], FAILED)

    def _amended(self, before: Outcome, answered_to: str, said: Utterance) -> Outcome:
        words = self._phrases.outcomes
        act = self._acts.read(said.text)
        if act == "thanks":
            return Outcome(words["thanked"], THANKED)
        if act == "correction":
            return Outcome(words["corrected"], CORRECTED)
        rows = self._embedder.embed([answered_to, said.text])
        if act in ("question", "request", "about_self") and float(rows[0] @ rows[1]) >= SAME_QUESTION:
            return Outcome(words["asked_again"], ASKED_AGAIN)
        return before
