"""Who may do what: the table, every address with every role, and the page for whoever may not."""

import re
from html import unescape
from importlib import import_module
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client
from django.urls import reverse
from django.urls.converters import UUIDConverter

from studio.access.accounts import Account, Role
from studio.access.roles import LOWEST_ROLE, Action, may
from studio.access.signin import issue_link_token
from tests.studio.routes import every_route

# Each route that not everybody may use, with the lowest role that may; POST alone for those in POSTS.
ROUTES = {
    Role.EDITOR: """
        prompt-new prompt-settings prompt-archive prompt-duplicate version-restore label-move
        prompt-edit prompt-save prompt-draft prompt-discard prompt-copy prompt-release prompt-conflict
        prompt-budgets prompt-cacheable-prefix-take
        prompt-import upload-import workspace-import workspace-database system-keep
        model-new model-shipped model-edit model-reset model-delete
        context-new context-new-json context-samples context-edit context-edit-json context-duplicate
        context-delete context-from-run run-round-context
    """,
    Role.RELEASER: "proposal-new proposal-detail prompt-export export-undo workspace-adopt",
    Role.ADMINISTRATOR: """
        prompt-protection webhook-list webhook-detail webhook-secret webhook-delete delivery-again
        workspace-new folder-allow folder-take-back workspace-settings workspace-release workspace-archive
        demo-remove people person-invite invitation-withdraw person person-switch person-remove
        service-tokens service-token-end everything machine-texts machine-forget
    """,
}
POSTS = {"proposal-detail", "prompt-release", "everything"}
# A POST of these changes nothing that is shared: a preference, one's own account, a question with a text.
EVERYBODY_POSTS = {
    *(
        "signin",
        "invitation",
        "password-reset",
        "password-reset-confirm",
        "account-email",
        "signout",
        "account-password",
        "account-sessions-end",
        "language",
        "theme",
        "keys",
    ),
    *("account-tokens", "account-token-end"),
    *("prompt-preview", "prompt-rounds", "prompt-costs", "prompt-cacheable-prefix", "prompt-coverage"),
    *("run-replay", "run-replay-all"),
}
LOWEST = {name: role for role, names in ROUTES.items() for name in names.split()}


def in_role(person: User, role: Role) -> User:
    Account.objects.filter(user=person).update(role=role)
    return User.objects.get(pk=person.pk)


@pytest.mark.parametrize("role", Role)
def test_every_route_asks_for_its_role(client: Client, person: User, role: Role) -> None:
    client.force_login(in_role(person, role))
    client.raise_request_exception = False
    wrong = []
    for route in every_route():
        name = str(route.name)
        if not route.name or name == "signout":
            continue
        kinds = route.pattern.converters
        parts = {
            part: UUID(int=1) if isinstance(kind, UUIDConverter) else "1" for part, kind in kinds.items()
        }
        address = reverse(name, kwargs=parts)
        answers = {}
        for method, ask in (("POST", client.post), ("GET", client.get)):
            answer = ask(address)
            answers[method] = answer.status_code
            if answer.streaming:  # it keeps its turn until it is read
                b"".join(answer.streaming_content)  # type: ignore[arg-type]
        needed = LOWEST.get(name, Role.VIEWER)
        if answers["POST"] not in (403, 405) and needed is Role.VIEWER and name not in EVERYBODY_POSTS:
            wrong.append(f"{name} takes a POST and is in no list")
        for method, status in answers.items():
            asked = not (method == "GET" and name in POSTS)
            if status != 405 and (status == 403) != (asked and role < needed):
                wrong.append(f"{method} {name}: {status}")
    assert not wrong


def test_every_name_of_the_lists_is_a_route() -> None:
    assert {*LOWEST, *POSTS, *EVERYBODY_POSTS} <= {route.name for route in every_route()}


@pytest.mark.parametrize(
    ("role", "actions"),
    [
        (Role.VIEWER, "read"),
        (Role.EDITOR, "read edit context label"),
        (Role.RELEASER, "read edit context label protected_label export adopt"),
        (Role.ADMINISTRATOR, " ".join(LOWEST_ROLE)),
    ],
)
def test_the_table(role: Role, actions: str) -> None:
    token = SimpleNamespace(role=role)
    assert [action for action in Action if may(token, action)] == actions.split()


def test_a_protected_label_needs_a_releaser() -> None:
    protected = SimpleNamespace(protected=True)
    assert not may(SimpleNamespace(role=Role.EDITOR), Action.LABEL, protected)
    assert may(SimpleNamespace(role=Role.RELEASER), Action.LABEL, protected)


def test_nobody_and_a_switched_off_account_may_nothing(person: User) -> None:
    person.is_active = False
    assert not may(AnonymousUser(), Action.READ) and not may(person, Action.READ)


def test_the_page_says_who_may(client: Client, person: User) -> None:
    client.force_login(in_role(person, Role.VIEWER))
    User.objects.create_user("hana")
    in_role(User.objects.create_user("ken"), Role.EDITOR)
    page = unescape(client.post("/prompts/new/").content.decode())
    assert "Your role (Viewer) does not include this: Write drafts and versions" in page
    assert "Editor or higher may: hana, ken." in page
    assert "Administrators may: hana." in unescape(client.get("/workspaces/new/").content.decode())


def test_the_person_of_the_link_is_an_administrator(client: Client, db: None) -> None:
    client.get(reverse("signin-link", args=[issue_link_token()]))
    assert may(User.objects.get(username="operator"), Action.PEOPLE)


def test_existing_accounts_get_a_role_by_the_migration(db: None) -> None:
    give_roles = import_module("studio.migrations.0007_accounts").give_roles
    User.objects.create_user("operator")
    User.objects.create_superuser("root")
    User.objects.create_user("ken")
    demo = User.objects.create_user("mio", is_active=False)
    Account.objects.all().delete()
    give_roles(apps, None)
    roles = dict(Account.objects.values_list("user__username", "role"))
    assert roles == {"operator": 4, "root": 4, "ken": 3, "mio": 1}
    assert Account.objects.get(user=demo).left_at
    # Without a superuser and the link's person nobody could manage people: all become administrators.
    Account.objects.all().delete()
    User.objects.filter(username__in=["operator", "root"]).delete()
    give_roles(apps, None)
    assert dict(Account.objects.values_list("user__username", "role")) == {"ken": 4, "mio": 1}


def test_templates_ask_for_actions_that_there_are() -> None:
    pages = "\n".join(path.read_text() for path in settings.TEMPLATES_DIR.rglob("*.html"))
    asked = set(re.findall(r"\bmay\.(\w+)", pages))
    asked |= {name for tag in re.findall(r"{% who_may ([^%]*)%}", pages) for name in re.findall(r"\w+", tag)}
    assert len(asked) > 5 and asked <= set(Action.values)
