"""All models of the studio, as Django looks for them here; each room has its own."""

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

__all__ = [
    "Account",
    "ApiToken",
    "AuditEntry",
    "ContextTrial",
    "Count",
    "Draft",
    "DraftCopy",
    "Export",
    "ExportReceipt",
    "ExportScoring",
    "FollowedFile",
    "FoundDrift",
    "HistoryNote",
    "Invitation",
    "Label",
    "LabelMove",
    "LanguageModel",
    "PromptSet",
    "PromptVersion",
    "Proposal",
    "RemoteBatch",
    "RemoteFile",
    "RemoteWorkspace",
    "RoundResult",
    "RunResult",
    "SampleContext",
    "ScoringRecord",
    "SignInLink",
    "StoredAnswer",
    "StudioSession",
    "SystemBuild",
    "Tag",
    "UnexaminedRuns",
    "Upload",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WorkClaim",
    "Workspace",
]
