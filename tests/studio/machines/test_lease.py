"""The lease of an agent: one reports a workspace at a time, whatever the clock did meanwhile."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from studio.machines.models import LEASE, RemoteWorkspace
from studio.machines.reports import AnotherAgent, take_lease
from studio.models import Workspace
from tests.studio.clock import NOW


@pytest.fixture
def remote(person: User) -> RemoteWorkspace:
    workspace = Workspace.objects.create(slug="w", name="W", path="box:/w", created_at=NOW)
    return RemoteWorkspace.objects.create(workspace=workspace, machine="box", folder="/w", heard_at=NOW)


def test_a_second_agent_waits_for_the_end_of_the_lease(remote: RemoteWorkspace) -> None:
    take_lease(remote, "first", NOW)
    with pytest.raises(AnotherAgent):
        take_lease(remote, "second", NOW + LEASE / 2)
    take_lease(remote, "second", NOW + 2 * LEASE)


def test_a_lease_from_before_the_clock_was_set_back_keeps_nobody_out(remote: RemoteWorkspace) -> None:
    take_lease(remote, "first", NOW)
    take_lease(remote, "second", NOW - timedelta(hours=3))
    with pytest.raises(AnotherAgent):
        take_lease(remote, "first", NOW - timedelta(hours=3))
