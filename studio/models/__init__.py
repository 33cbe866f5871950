"""What the studio stores: one module per noun."""

from studio.models.contexts import SampleContext
from studio.models.drafts import Draft, DraftCopy
from studio.models.exports import Export, ExportReceipt
from studio.models.history_index import HistoryNote
from studio.models.labels import Label, LabelMove
from studio.models.prompts import PromptSet, PromptVersion, Tag
from studio.models.results import RoundResult, RunResult
from studio.models.signin import SignInAttempt, SignInLink
from studio.models.uploads import Upload
from studio.models.workspaces import Workspace

__all__ = [
    "Draft",
    "DraftCopy",
    "Export",
    "ExportReceipt",
    "HistoryNote",
    "Label",
    "LabelMove",
    "PromptSet",
    "PromptVersion",
    "RoundResult",
    "RunResult",
    "SampleContext",
    "SignInAttempt",
    "SignInLink",
    "Tag",
    "Upload",
    "Workspace",
]
