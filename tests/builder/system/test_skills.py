from xml.etree import ElementTree

from builder.system.input import Skill
from builder.system.skills import INSTRUCTION, list_skills


def skills(count: int, description: str = "Does it well") -> list[Skill]:
    return [
        Skill(name=f"skill-{n:02}", description=description, location=f"/s/{n:02}/SKILL.md")
        for n in range(count)
    ]


def listing(text: str) -> str:
    return text[: text.index("</available_skills>") + len("</available_skills>")]


def test_what_is_special_in_xml_is_escaped_and_lines_become_one() -> None:
    text = list_skills(
        [Skill(name="a<b", description="x & y\n  z\x07", location="/p & q/SKILL.md")], 9_000
    ).text
    found = ElementTree.fromstring(listing(text))
    assert [node.text for node in found.iter() if node.text and node.text.strip()] == [
        "a<b",
        "x & y z\ufffd",
        "/p & q/SKILL.md",
    ]
    assert text.endswith("\n\n" + INSTRUCTION)


def test_over_the_limit_the_last_ones_lose_their_description_first() -> None:
    whole = list_skills(skills(10), 9_000)
    room = len(listing(whole.text))
    assert [use.status for use in list_skills(skills(10), room).uses] == ["listed"] * 10
    tight = list_skills(skills(10), room - 1)
    assert [use.status for use in tight.uses] == ["listed"] * 9 + ["without_description"]
    assert len(listing(tight.text)) < room
    # Caches live on the beginning: what fits stands as it stood.
    assert tight.text.startswith(whole.text[: whole.text.index("<name>skill-09")])


def test_then_skills_go_and_are_named() -> None:
    found = list_skills(skills(10), 400)
    gone = [use.name for use in found.uses if use.status == "left_out"]
    assert gone and not any(use.status == "listed" for use in found.uses)
    assert f"Skills left out of this list for lack of room ({len(gone)}): {', '.join(gone)}" in found.text
    assert len(listing(found.text)) <= 400


def test_every_skill_is_in_the_text_whatever_the_limit() -> None:
    for room in range(1, 1_500, 37):
        text = list_skills(skills(9), room).text
        assert all(skill.name in text for skill in skills(9))
