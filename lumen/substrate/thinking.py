"""THINK by reflex: what a person does with their words, and for each act what could be done, the best first.

A reply is a candidate of the skill `chat`, its text made of frames and quotations. A request becomes a candidate of
each skill that fits, or a question for what is missing. The last candidate always says honestly that it cannot. What is
expected of each is the mean outcome of its kind so far, drawn towards a small prior while there are few.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from lumen.ports import Embedder
from lumen.questions import GoalView, Tally, ThinkQuestion, Thought, Utterance
from lumen.substrate.acts import ActReader
from lumen.substrate.citing import Citing
from lumen.substrate.corrections import Corrections
from lumen.substrate.phrases import Act, Phrases
from lumen.substrate.portrait import Portrait
from lumen.substrate.quoting import Frames, Quotation, joined, named, person
from lumen.substrate.ranking import Ranking
from lumen.substrate.recalling import Recalling
from lumen.substrate.skill_fit import Fit, SkillFit
from lumen.turn import UNNAMED, Action, Candidate, Prediction

CHAT: Final = "chat"
PRIOR: Final = 0.2
PRIOR_COUNT: Final = 4
MOST_SKILLS: Final = 3
GOAL_FLOOR: Final = 0.35
VALUE_FLOOR: Final = 0.35


class Thinking:
    def __init__(self, embedder: Embedder, phrases: Phrases, acts: ActReader) -> None:
        self._embedder = embedder
        self._phrases = phrases
        self._acts = acts
        frames = Frames(phrases.frames)
        self._fill = frames.fill
        ranking = Ranking(phrases)
        begins = phrases.frames["correction_new"].partition("{")[0]
        self._recalling = Recalling(phrases, Citing(frames, ranking.vocabulary), ranking, Corrections(acts, begins))
        self._portrait = Portrait(phrases, frames)
        self._fit = SkillFit(embedder, ranking.vocabulary, phrases)

    def think(self, question: ThinkQuestion) -> Thought:
        if question.said is not None:
            return self._about_words(question.said, question)
        if question.goal is not None:
            return self._about_goal(question.goal, question)
        return Thought(self._phrases.situations["goal"], (self._cannot("goal", question),))

    def _about_words(self, said: Utterance, question: ThinkQuestion) -> Thought:
        act = self._acts.read(said.text)
        if act is None:
            first = [self._reply("unclear", [self._fill("unclear"), self._fill("i_listen")], question)]
        elif act == "request":
            first = self._help(said, question)
        else:
            seen = self._uses(said, question) if act == "question" else []
            first = [*seen, self._reply(act, self._parts(act, said, question), question)]
        return Thought(self._phrases.situations[act or "unclear"], (*first, self._cannot(act or "unclear", question)))

    def _parts(self, act: Act, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        fill = self._fill
        speaker = "" if said.speaker == UNNAMED else person(said.speaker)
        match act:
            case "question":
                parts = self._recalling.answer(said, question)
            case "correction":
                parts = self._recalling.correct(said, question)
            case "about_self":
                topic = self._portrait.topic(said.text)
                did = topic == "did"
                parts = self._recalling.deeds(question) if did else self._portrait.parts(topic, question)
            case "thanks":
                parts = [fill("welcome")]
            case "greeting":
                hello = fill("hello_name", speaker=speaker) if speaker else fill("hello")
                parts = [hello, *self._portrait.name(question), fill("i_listen")]
            case "closing":
                goodbye = fill("goodbye_name", speaker=speaker) if speaker else fill("goodbye")
                parts = [goodbye, fill("is_kept")]
            case "distress":
                parts = [fill("care"), fill("care_people"), fill("care_limit")]
            case "statement" | "request":
                parts = [fill("noted"), *self._ties(said, question)]
            case _:
                assert_never(act)
        return parts

    def _ties(self, said: Utterance, question: ThinkQuestion) -> list[Quotation]:
        """The goal or value nearest to a statement, and the memory that goes with it."""
        parts = []
        goals = [goal.name for goal in question.goals if goal.status not in ("done", "deprecated")]
        if (goal := self._nearest(said.text, goals, GOAL_FLOOR)) is not None:
            parts.append(self._fill("goes_with_goal", quoted=named(goal)))
        elif (value := self._nearest(said.text, [value.name for value in question.values], VALUE_FLOOR)) is not None:
            parts.append(self._fill("goes_with_value", quoted=named(value)))
        return parts + self._recalling.related(said, question)

    def _nearest(self, text: str, names: Sequence[str], floor: float) -> str | None:
        if not names:
            return None
        rows = self._embedder.embed([text, *names])
        near = rows[1:] @ rows[0]
        best = int(near.argmax())
        return names[best] if near[best] >= floor else None

    def _help(self, said: Utterance, question: ThinkQuestion) -> list[Candidate]:
        """One candidate per skill that fits. Where something is missing, a reply that asks for it."""
        candidates = []
        for fit in self._fit.fitting(said.text, question.skills)[:MOST_SKILLS]:
            if fit.filled.missing:
                field = person(fit.filled.missing[0].replace("_", " "))
                asks = [self._fill("ask_field", quoted=named(fit.skill.name), field=field), self._fill("ask_again")]
                name = f"ask:{fit.skill.name}"
                candidates.append(self._reply("request", asks, question, name=name, intention="ask"))
            else:
                candidates.append(self._use(fit, question, "request"))
        return sorted(candidates, key=lambda candidate: candidate.action.skill == CHAT)

    def _uses(self, said: Utterance, question: ThinkQuestion) -> list[Candidate]:
        """For a question that names a path, a link or the like: the skills that can look there."""
        fits = self._fit.fitting(said.text, question.skills)[:MOST_SKILLS]
        sure = [fit for fit in fits if fit.filled.is_certain and not fit.filled.missing]
        return [self._use(fit, question, "request") for fit in sure]

    def _about_goal(self, goal: GoalView, question: ThinkQuestion) -> Thought:
        candidates = []
        missing = self._fill("goal_missing", quoted=named(goal.name))
        for fit in self._fit.fitting(goal.name, question.skills)[:MOST_SKILLS]:
            if not fit.filled.missing:
                candidates.append(self._use(fit, question, "goal", goal=goal.name))
            elif not candidates:
                lacking = person(fit.filled.missing[0].replace("_", " "))
                missing = self._fill("goal_field", quoted=named(goal.name), skill=named(fit.skill.name), field=lacking)
        honest = [] if candidates else [self._reply("goal", [missing], question, goal=goal.name)]
        last = self._cannot("goal", question, goal=goal.name)
        return Thought(self._phrases.situations["goal"], (*candidates, *honest, last))

    def _use(self, fit: Fit, question: ThinkQuestion, act: str, *, goal: str | None = None) -> Candidate:
        kind = f"{fit.skill.name}:{act}"
        return Candidate(
            name=f"use:{fit.skill.name}",
            action=Action(fit.skill.name, dict(fit.filled.parameters)),
            kind=kind,
            intention=self._phrases.intentions[act],
            prediction=self._prediction(kind, question.tallies),
            goal=goal,
        )

    def _reply(
        self,
        act: str,
        parts: Sequence[Quotation],
        question: ThinkQuestion,
        *,
        name: str = "",
        intention: str = "",
        goal: str | None = None,
    ) -> Candidate:
        reply = joined(parts)
        kind = f"{CHAT}:{'care' if act == 'distress' else act}"
        return Candidate(
            name=name or f"say:{act}",
            action=Action(CHAT, {"text": reply.shown}),
            kind=kind,
            intention=self._phrases.intentions[intention or act],
            prediction=self._prediction(kind, question.tallies),
            goal=goal,
            cites=reply.cites,
            stored=reply.stored,
        )

    def _cannot(self, act: str, question: ThinkQuestion, *, goal: str | None = None) -> Candidate:
        why = self._fill("no_skill") if act in ("request", "goal") else self._fill("cannot_answer")
        parts = [self._fill("cannot"), why] if act in ("request", "goal") else [why]
        return self._reply("cannot", parts, question, goal=goal)

    def _prediction(self, kind: str, tallies: Sequence[Tally]) -> Prediction:
        """The shrunken mean of its kind; of its skill when the kind has not been tried."""
        same = [tally for tally in tallies if tally.kind == kind and tally.count > 0]
        skill = kind.partition(":")[0]
        used = same or [tally for tally in tallies if tally.kind.partition(":")[0] == skill and tally.count > 0]
        count = sum(tally.count for tally in used)
        total = sum(tally.count * tally.mean for tally in used)
        score = max(-1.0, min(1.0, (total + PRIOR_COUNT * PRIOR) / (count + PRIOR_COUNT)))
        texts = self._phrases.expectations
        words = texts["counted"].format(count=count, mean=f"{total / count:.2f}") if count else texts["new"]
        return Prediction(words, score)
