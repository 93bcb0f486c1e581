"""The mind that lumen.toml names, with what it needs. Each is imported only when it is the one."""

import os
from pathlib import Path

from lumen.config import MindConfig
from lumen.ports import Embedder, Mind


def chosen_mind(settings: MindConfig, home: Path, embedder: Embedder) -> Mind:
    mind = _bare(settings, home, embedder)
    if not settings.record_to:
        return mind
    from lumen.substrate.recorded import Recording

    return Recording(mind, home / settings.record_to)


def _bare(settings: MindConfig, home: Path, embedder: Embedder) -> Mind:
    match settings.use:
        case "reflex":
            from lumen.substrate.reflex import Reflex

            return Reflex(embedder)
        case "openai_compatible":
            from lumen.kernel.prompting import Prompts
            from lumen.substrate.openai_compatible import OpenAICompatible
            from lumen.substrate.prompted import PromptedMind

            key = os.environ.get(settings.key_env) if settings.key_env else None
            model = OpenAICompatible(settings.base_url, settings.model, key=key, seconds=settings.seconds)
            return PromptedMind(model, Prompts(home / "prompts").render)
        case "scripted":
            from lumen.substrate.scripted import Scripted

            return Scripted.from_file(home / settings.script)
        case "recorded":
            from lumen.substrate.recorded import Replay

            return Replay(home / settings.recording, strict=False)
