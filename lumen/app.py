"""The composition root: opens an instance, cuts every grant, wires the runner. It prints nothing."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from lumen.clock import SystemClock
from lumen.config import Config, read_config
from lumen.errors import BrokenState, RecordError, Refused
from lumen.instance import Place, files_in_commit, find, resolve_commit, show_file
from lumen.ports import Clock
from lumen.record.documents import is_state_file
from lumen.record.entry import Problem
from lumen.record.files import Files
from lumen.record.fold import Fold
from lumen.record.goals import Goal, GoalsEditor, GoalsReader, GoalTracker, PerpetualGoal
from lumen.record.grants import ActionGrant, ExploreGrant, PersonGrant, ReflectionGrant, UpkeepGrant
from lumen.record.importing import Importer, ImportReport
from lumen.record.inbox import InboxAnswerer, InboxAsker, InboxReader, Waiting
from lumen.record.kernel_journal import KernelJournal
from lumen.record.line import Author
from lumen.record.memory import ExperienceWriter, MemoryReader, MemoryWriter, PersonMemory
from lumen.record.outcomes import Outcomes
from lumen.record.record import Record
from lumen.record.rollback import Plan, Rollback, moment_of
from lumen.record.skill_help import SkillHelp
from lumen.record.skills import Skill, SkillsAuthor, SkillsInvoker, SkillsReader
from lumen.record.soul import Soul, SoulEditor, SoulReader, summarized
from lumen.record.state_files import Finding
from lumen.record.upkeep import Keeper
from lumen.record.values import Value, ValuesEditor, ValuesReader

if TYPE_CHECKING:
    from lumen.audit.verify import Verdict
    from lumen.audit.why import Story
    from lumen.kernel.conversation import Conversation
    from lumen.kernel.faculties import Show
    from lumen.kernel.loops.action import TurnReport
    from lumen.kernel.steps.runner import Report

T = TypeVar("T")
SKILLS_IN_ONE_ACT: Final = 5  # one, and what it may ask the kernel for
IMPORT_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a read command sees. Sections that could not be read are empty, and `problems` says why."""

    home: Path
    config: Config
    soul: Soul
    values: Sequence[Value]
    goals: Sequence[Goal | PerpetualGoal]
    skills: Sequence[Skill]
    fold: Fold
    findings: Sequence[Finding]
    problems: Sequence[str] = field(default=())


class Instance:
    """One opened instance. Close it, so that the next process knows where the log ended."""

    def __init__(self, place: Place, *, clock: Clock | None = None, files: Files | None = None) -> None:
        self.place = place
        self.config = read_config(place.home)
        self.clock = clock or SystemClock()
        self._record = Record(files or Files(place.data), self.clock)
        self.reader = Keeper(self._record)

    def close(self) -> None:
        self._record.close()

    def action_grant(self, turn: str | None = None) -> ActionGrant:
        self.refuse_broken_state()
        return ActionGrant(
            soul=SoulReader(self._record),
            values=ValuesReader(self._record),
            goals=GoalTracker(self._record, turn),
            skills=SkillsAuthor(self.place.skills, self._record, turn),
            memory=MemoryWriter(self._record, turn),
            inbox=InboxAsker(self._record, turn),
            outcomes=Outcomes(self._record, turn),
            skill_help=SkillHelp(self._record),
        )

    def explore_grant(self, turn: str | None = None) -> ExploreGrant:
        self.refuse_broken_state()
        return ExploreGrant(
            soul=SoulReader(self._record),
            values=ValuesReader(self._record),
            goals=GoalsReader(self._record),
            skills=SkillsInvoker(self.place.skills),
            memory=MemoryWriter(self._record, turn),
        )

    def reflection_grant(self, turn: str | None = None) -> ReflectionGrant:
        self.refuse_broken_state()
        return ReflectionGrant(
            soul=SoulEditor(self._record, "reflection", turn),
            values=ValuesEditor(self._record, "reflection", turn),
            goals=GoalsEditor(self._record, "reflection", turn),
            skills=SkillsReader(self.place.skills),
            memory=ExperienceWriter(self._record, turn),
        )

    def upkeep_grant(self) -> UpkeepGrant:
        return UpkeepGrant(
            soul=SoulReader(self._record),
            values=ValuesReader(self._record),
            goals=GoalsReader(self._record),
            memory=MemoryReader(self._record),
            record=Keeper(self._record),
        )

    def person_grant(self) -> PersonGrant:
        return PersonGrant(
            soul=SoulEditor(self._record, "person"),
            values=ValuesEditor(self._record, "person"),
            goals=GoalsEditor(self._record, "person"),
            skills=SkillsReader(self.place.skills),
            memory=PersonMemory(self._record),
            inbox=InboxAnswerer(self._record),
            importer=Importer(self._record),
            rollback=Rollback(self._record),
            record=Keeper(self._record),
        )

    async def as_person(self, name: str, act: Callable[[PersonGrant], T], *, seconds: float | None = None) -> T:
        """Run what a person asked for as a step of the kernel, so that it leaves its lines like everything else."""
        from lumen.kernel.steps.runner import StepRunner

        grant = self.person_grant()

        async def step(report: "Report") -> T:
            return act(grant)

        runner = StepRunner(KernelJournal(self._record), seconds=self.config.step_seconds)
        return await runner.run(name, step, seconds=seconds, by="person")

    def conversation(self, person: str, show: "Show") -> "Conversation":
        """Everything a conversation needs, put together: the mind of lumen.toml, the gate, the skills, the recall."""
        from lumen.cortex.cortex import Cortex
        from lumen.kernel.conversation import Conversation
        from lumen.kernel.faculties import Faculties
        from lumen.kernel.loops.action import ActionLoop
        from lumen.kernel.skills import SkillRunner
        from lumen.kernel.steps.runner import StepRunner
        from lumen.minds import chosen_mind
        from lumen.record.recall import Recall
        from lumen.substrate.embed_static import StaticEmbedder

        self.refuse_broken_state()
        embedder, skills = StaticEmbedder(), self.config.skills
        recall = Recall(self._record, embedder)
        faculties = Faculties(
            mind=chosen_mind(self.config.mind, self.place.home, embedder),
            cortex=Cortex(SkillsInvoker(self.place.skills)),
            skills=SkillRunner(
                self.place.home, seconds=skills.seconds, isolation=skills.isolation, settings=skills.settings
            ),
            recall=recall,
            runner=StepRunner(KernelJournal(self._record), seconds=self.config.step_seconds),
            act_seconds=skills.seconds * SKILLS_IN_ONE_ACT,
        )
        return Conversation(ActionLoop(faculties, show), recall, self.action_grant, self.clock, person)

    @property
    def inbox(self) -> InboxReader:
        return InboxReader(self._record)

    async def confirm(self, name: str, by: str, show: "Show") -> "TurnReport":
        """A person's yes: it is recorded, the action is claimed, and run at once. Raises Refused when it may not be."""

        def claim(grant: PersonGrant) -> Waiting:
            entry = grant.inbox.find(name)
            grant.inbox.answer(entry, "yes", by=by)
            if not grant.inbox.claim(entry):
                raise Refused(f"{entry.short_id} was claimed by another process first; it runs there. See: lumen inbox")
            return entry

        conversation = self.conversation(by, show)
        try:
            entry = await self.as_person("confirm", claim)
            report = await conversation.carry_out(entry)
            result = "superseded" if report.result == "waiting" else report.result
            await self.as_person("settle", lambda grant: grant.inbox.settle(entry, result))
            return report
        finally:
            conversation.close()

    async def deny(self, name: str, by: str) -> Waiting:
        def refuse(grant: PersonGrant) -> Waiting:
            entry = grant.inbox.find(name)
            if entry.standing == "may have run":
                grant.inbox.settle(entry, "may have run, and was dismissed")
            else:
                grant.inbox.answer(entry, "no", by=by)
            return entry

        return await self.as_person("deny", refuse)

    def why(self, turn: str | None = None) -> "Story":
        """What a turn decided and on what grounds, from its own lines. Raises Refused when there is no such turn."""
        from lumen.audit.why import story_of

        return story_of(self._record.journal.newest_first(), turn)

    async def import_memories(self, lines: Iterable[bytes], source: str, show: Callable[[int], None]) -> ImportReport:
        """A life from elsewhere, as one long step that can be interrupted between two memories and loses nothing."""
        from asyncio import sleep

        from lumen.kernel.steps.runner import StepRunner

        importer = self.person_grant().importer

        async def step(report: "Report") -> ImportReport:
            done = ImportReport()
            for count, so_far in enumerate(importer.run(lines, source)):
                done = so_far
                if count % 100 == 0:
                    show(count)
                    await sleep(0)
            self.reader.fold()  # read once now, and kept, so that the next command need not
            report.note(added=done.imported, known=done.known, bad=len(done.bad))
            return done

        runner = StepRunner(KernelJournal(self._record), seconds=self.config.step_seconds)
        return await runner.run("import", step, seconds=IMPORT_SECONDS, by="person", source=source)

    async def reconcile(self) -> list[Finding]:
        """Close what a crash, a hand or git left behind. What cannot be written now is said and left for later."""
        from lumen.kernel.steps.runner import StepRunner

        grant = self.upkeep_grant()

        async def step(report: "Report") -> list[Finding]:
            findings = grant.record.reconcile()
            report.note(findings=len(findings))
            return findings

        try:
            runner = StepRunner(KernelJournal(self._record), seconds=self.config.step_seconds)
            return await runner.run("reconcile", step)
        except RecordError as problem:
            return [Finding("unreadable", "", f"what changed could not be recorded yet: {problem}")]

    def needs_reconciling(self) -> bool:
        return self.reader.needs_reconciling()

    def memory(self, author: Author | None = None) -> MemoryReader:
        return MemoryReader(self._record, author)

    def plan_rollback(self, to: str) -> tuple[Plan, str]:
        """What going back to a date, a moment or a commit would change, and how that target is called."""
        rollback = Rollback(self._record)
        moment = moment_of(to)
        if moment is not None:
            return rollback.plan_to_moment(moment), moment
        commit = resolve_commit(self.place, to)
        names = [name for name in files_in_commit(self.place, commit) if is_state_file(name)]
        files = {name: show_file(self.place, commit, name) for name in names}
        return rollback.plan_to_files(files), f"commit {commit[:10]}"

    def verify(self) -> "Verdict":
        """Everything the log can prove about itself."""
        from lumen.audit.verify import Fault, verify

        journal = self._record.journal
        verdict = verify(journal.scan(), has_blob=journal.has_blob, whole=journal.whole)
        if not verdict.holds:  # perhaps a line was just being emptied: look again while nobody may
            with suppress(RecordError), self._record.presence.lock():
                verdict = verify(journal.scan(), has_blob=journal.has_blob, whole=journal.whole)
        if went_back := self._record.went_back():
            verdict.faults.append(Fault("went_back", went_back.file, went_back.text))
        return verdict

    def problems(self) -> list[str]:
        """Why no loop may start, each with its file, line and remedy; empty when one may."""
        found: list[str] = []
        checks: Sequence[Callable[[], Sequence[Problem | Soul]]] = (
            lambda: [SoulReader(self._record).read()],
            ValuesReader(self._record).problems,
            GoalsReader(self._record).problems,
        )
        for check in checks:
            try:
                found += [str(problem) for problem in check() if isinstance(problem, Problem)]
            except (BrokenState, RecordError) as broken:
                found.append(str(broken))
        return found

    def refuse_broken_state(self) -> None:
        if problems := self.problems():
            raise BrokenState("No loop starts while the state is not usable: " + "; ".join(problems))

    def look(self, findings: Sequence[Finding] = ()) -> Look:
        went_back = self.reader.went_back()
        return Look(
            home=self.place.home,
            config=self.config,
            soul=_or(summarized(""), SoulReader(self._record).read),
            values=_or([], ValuesReader(self._record).all),
            goals=_or([], GoalsReader(self._record).all),
            skills=_or([], SkillsReader(self.place.skills).all),
            fold=self.reader.fold(),
            findings=[*findings, *([went_back] if went_back else [])],
            problems=self.problems(),
        )


def open_instance(home: Path | None, *, working_folder: Path, clock: Clock | None = None) -> Instance:
    return Instance(find(home, working_folder=working_folder), clock=clock)


def _or(otherwise: T, read: Callable[[], T]) -> T:
    try:
        return read()
    except (BrokenState, RecordError):
        return otherwise
