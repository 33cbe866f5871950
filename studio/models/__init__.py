"""What the studio stores: one module per noun."""

from studio.models.contexts import SampleContext
from studio.models.drafts import Draft, DraftCopy
from studio.models.exports import Export, ExportReceipt
from studio.models.history_index import HistoryNote
from studio.models.labels import Label, LabelMove
from studio.models.language_models import LanguageModel
from studio.models.prompts import PromptSet, PromptVersion, Tag
from studio.models.results import RoundResult, RunResult
from studio.models.signin import SignInAttempt, SignInLink
from studio.models.system_builds import SystemBuild
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
    "LanguageModel",
    "PromptSet",
    "PromptVersion",
    "RoundResult",
    "RunResult",
    "SampleContext",
    "SignInAttempt",
    "SignInLink",
    "SystemBuild",
    "Tag",
    "Upload",
    "Workspace",
]
