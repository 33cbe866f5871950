"""A backup of one engine restored into the other: a whole studio from SQLite to PostgreSQL and back."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgresql_cluster import cluster
from tests.studio.operations.test_start import eventually
from tests.studio_process import ROOT, Studio

pytestmark = pytest.mark.slow

# Every row of every table that travels, as the studio reads it. What restoring itself notes is left out.
ROWS = """
import json
from django.apps import apps
from django.db.models import JSONField

def shown(field, value):
    if isinstance(field, JSONField):
        return json.dumps(value, sort_keys=True)  # PostgreSQL has an order of its own
    return bytes(value) if isinstance(value, memoryview) else value

found = {}
for model in apps.get_models(include_auto_created=True):
    name = model._meta.db_table
    if name in ("django_session", "studio_session", "studio_signinlink", "studio_workclaim"):
        continue
    fields = [field for field in model._meta.concrete_fields if field.column]
    rows = model._base_manager.all()
    if name == "studio_auditentry":
        rows = rows.exclude(action="database.restored")
    found[name] = sorted(
        repr([shown(field, value) for field, value in zip(fields, row)])
        for row in rows.values_list(*(field.attname for field in fields))
    )
print(json.dumps(found))
"""
EDGES = r"""
from django.contrib.auth.models import User
from django.utils import timezone
from studio.models import Draft, PromptSet, WebhookEndpoint
from studio.prompts.texts import Templates
now, akira = timezone.now(), User.objects.create(username="akira", last_login=None)
texts = Templates("tab\tline\nback\\slash \\N \\. é順位 \u2028 {{ user_prompt }}\r", "", "\\")
prompt_set = PromptSet.objects.create(slug="edges", name="\\N", created_at=now, changed_at=now)
prompt_set.save_version(texts, base=0, message="\\.", author=akira, at=now)
WebhookEndpoint.objects.create(name='"', url="https://192.0.2.1/", events=["a\\tb", None, 1.5, {"k": "\t"}])
"""


CHANGE = "from django.db import connection as c; c.cursor().execute('DELETE FROM studio_promptversion')"


class Place:
    """A data folder, with or without a PostgreSQL."""

    def __init__(self, data: Path, **environ: str) -> None:
        self.data = data
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(data.parent),
            "STUDIO_DATA": str(data),
            **environ,
        }

    def manage(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = json.loads(self.manage("shell", "--no-imports", "-c", ROWS))
        return found


def test_a_whole_studio_goes_to_the_other_engine_and_back(tmp_path: Path) -> None:
    first = Place(tmp_path / "first")
    studio = Studio(first.data, "--port", "0")
    examined = "from studio.models import RunResult; print(RunResult.objects.filter(over=True).count())"
    try:
        assert eventually(lambda: int(first.manage("shell", "--no-imports", "-c", examined)) >= 30, 60)
    finally:
        studio.end(signal.SIGTERM)
    first.manage("shell", "--no-imports", "-c", EDGES)
    rows = first.rows()
    assert sum(map(len, rows.values())) > 500
    first.manage("backup", str(tmp_path / "first.zip"))
    with cluster() as postgresql:
        second = Place(tmp_path / "second", DATABASE_URL=postgresql.url)
        second.manage("restore", str(tmp_path / "first.zip"))
        assert second.rows() == rows
        # New rows get new numbers, and those that are written once stay so.
        more = "from django.contrib.auth.models import User; User.objects.create(username='berta')"
        second.manage("shell", "--no-imports", "-c", more)
        with pytest.raises(AssertionError, match="rows are immutable"):
            second.manage("shell", "--no-imports", "-c", CHANGE)
        rows = second.rows()
        second.manage("backup", str(tmp_path / "second.zip"))
        # What stands there goes whole, and what does not fit changes nothing.
        second.manage("restore", str(tmp_path / "first.zip"))
        assert second.rows() != rows
    third = Place(tmp_path / "third")
    third.manage("restore", str(tmp_path / "second.zip"))
    assert third.rows() == rows
    again = Studio(third.data, "--port", "0", "--no-demo")
    assert again.get("/healthz")[0] == 200
    assert again.end(signal.SIGTERM) == 0
