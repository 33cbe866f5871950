"""What "everything" is: the tables that are written as files, and those that are not, with the reason.

A test goes through all models: a new one has to be in one of the lists.
"""

from collections.abc import Mapping

from django.db import models

from studio.access.accounts import Account
from studio.access.audit import AuditEntry
from studio.access.counts import Count
from studio.access.people import Invitation
from studio.access.sessions import StudioSession
from studio.access.signin import SignInLink
from studio.access.tokens import ApiToken
from studio.access.webhooks import WebhookDelivery, WebhookEndpoint
from studio.api.models import StoredAnswer
from studio.contexts.models import SampleContext
from studio.home.models import ContextTrial, UnexaminedRuns
from studio.machines.models import RemoteBatch, RemoteFile, RemoteWorkspace
from studio.prompts.drafts import Draft, DraftCopy
from studio.prompts.history_index import HistoryNote
from studio.prompts.labels import Label, LabelMove
from studio.prompts.language_models import LanguageModel
from studio.prompts.models import PromptSet, PromptVersion, Tag
from studio.prompts.proposals import Proposal
from studio.results.models import RoundResult, RunResult
from studio.shell.claims import WorkClaim
from studio.system.models import SystemBuild
from studio.workspaces.exports.models import Export, ExportReceipt, ExportScoring
from studio.workspaces.imports.models import Upload
from studio.workspaces.models import FollowedFile, FoundDrift, ScoringRecord, Workspace

Table = type[models.Model]

IN_FOLDERS: tuple[Table, ...] = (Tag, PromptSet, PromptVersion, Label, LabelMove, SampleContext)
"""Those that have a folder per set and files of their own."""

RECORDS: Mapping[str, Table] = {
    "models": LanguageModel,
    "workspaces": Workspace,
    "followed_files": FollowedFile,
    "scoring_settings": ScoringRecord,
    "exports": Export,
    "export_receipts": ExportReceipt,
    "export_scoring": ExportScoring,
    "runs": RunResult,
    "run_candidates": RunResult.candidates.through,
    "rounds": RoundResult,
    "system_builds": SystemBuild,
}
"""Files with a line of JSON for each row, by name; in the order in which they refer to each other."""

LEFT_OUT: Mapping[Table, str] = {
    Account: "as roles in people.jsonl",
    AuditEntry: "the log of this studio: it names addresses of machines",
    StudioSession: "sessions",
    SignInLink: "secrets",
    Count: "who tried to sign in",
    ApiToken: "secrets",
    Invitation: "secrets",
    WebhookEndpoint: "secrets",
    WebhookDelivery: "messages on their way",
    FoundDrift: "found out anew",
    ContextTrial: "found out anew",
    UnexaminedRuns: "found out anew",
    WorkClaim: "who does what at the moment",
    Proposal: "asks that are answered by moves of labels, which are written",
    StoredAnswer: "answers kept for a moment",
    Draft: "private to their authors",
    DraftCopy: "private to their authors",
    Upload: "private to their authors",
    RemoteWorkspace: "reported again by its machine",
    RemoteFile: "reported again by its machine",
    RemoteBatch: "reported again by its machine",
    HistoryNote: "an index, made anew from the versions",
}
