"""Name and ontology, however a person or another program writes them."""

import pytest

from lumen.record.soul import summarized


@pytest.mark.parametrize(
    ("text", "name", "ontology"),
    [
        ("", "", ""),
        ("# Wren\n\n## Ontology\n\nA record\nthat answers.\n\nMore.\n\n## Story\nx", "Wren", "A record that answers."),
        ("# Soul\n\nI am a system.\n\n## Core Character\nx", "", ""),
        ("Name: Nova\nOntology: a mind of words\n", "Nova", "a mind of words"),
        ("- **Name:** Nova\n- **Ontology**: words\n", "Nova", "words"),
        ("# Soul\n\n## Name\n\nNova\n\n## Ontology\nwords", "Nova", "words"),
        ("no headings at all, only a story", "", ""),
        ("#Nova\n#\n# \n", "", ""),
    ],
)
def test_a_soul_says_who_it_is(text: str, name: str, ontology: str) -> None:
    soul = summarized(text)
    assert (soul.name, soul.ontology) == (name, ontology)
