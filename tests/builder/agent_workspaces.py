"""A workspace as an agent's owner keeps one: bootstrap files, skills, settings."""

from pathlib import Path

from builder.system.workspace_scan import Machine

MACHINE = Machine(host="vm", os="Linux 6.1", python="3.11.7", home=Path("/home/nobody"))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def add_skill(workspace: Path, name: str, description: str, body: str = "# How\n") -> Path:
    return write(
        workspace / "skills" / name / "SKILL.md",
        f"---\nname: {name}\ndescription: {description}\n---\n{body}",
    )


def agent_workspace(folder: Path) -> Path:
    """Every bootstrap file and two skills."""
    for name in ("IDENTITY", "SOUL", "AGENTS", "USER", "HEARTBEAT"):
        write(folder / f"{name}.md", f"{name} です。\n")
    add_skill(folder, "gmail", "Search & read Gmail")
    add_skill(folder, "calendar", "Work with Google Calendar")
    return folder
