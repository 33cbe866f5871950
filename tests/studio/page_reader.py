"""Reads every page about what ran in a workspace, in a process of its own, so that it can be traced.

Usage: python -m tests.studio.page_reader WORKSPACE EXECUTION TEAM
"""

import os
import sys
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"


def main(folder: Path, execution: str, team: str) -> None:
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from studio.models import Workspace

    call_command("migrate", verbosity=0)
    Workspace.objects.create(slug="w", name="W", path=str(folder), created_at=timezone.now())
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_user("reader"))
    for url in pages(execution, team):
        answer = client.get(url)
        assert answer.status_code == 200, (url, answer.status_code)


def pages(execution: str, team: str) -> list[str]:
    """Every page that reads the database."""
    run = f"/workspaces/w/runs/{execution}/"
    return [
        "/workspaces/",
        "/workspaces/w/",
        "/runs/",
        "/workspaces/w/runs/?q=a",
        run,
        f"{run}teams/{team}/",
        f"{run}teams/{team}/rounds/1/",
        f"{run}teams/{team}/rounds/1/replay/",
        f"{run}replay/",
        f"/workspaces/w/runs/{execution}...{execution}/",
        "/workspaces/w/teams/",
        f"/workspaces/w/teams/{team}/",
        "/workspaces/w/scores/",
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
