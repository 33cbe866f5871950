"""What a receipt says, in the reader's language."""

import shlex

from django import template

from builder.messages import MESSAGES, advise, say
from studio.models import Export, ExportReceipt
from studio.shell.language import reader_language

register = template.Library()


@register.filter
def failure(receipt: ExportReceipt) -> str:
    """Why nothing was written; empty where the receipt does not know."""
    if receipt.error_code not in MESSAGES:
        # A receipt may be older than the sentence that it names.
        return receipt.error_code
    return say(receipt.error_code, receipt.error_params, reader_language())


@register.filter
def failure_advice(receipt: ExportReceipt) -> str:
    """What to do about it."""
    if receipt.error_code not in MESSAGES:
        return ""
    return advise(receipt.error_code, receipt.error_params, reader_language())


@register.filter
def command_line(export: Export) -> str:
    """The export as a command, for a script or another day."""
    if export.version is None:
        return ""
    what = f"{export.version.prompt_set.slug}@{export.label_name or export.version.number}"
    return f"python3 manage.py export {shlex.quote(what)} --workspace {shlex.quote(export.workspace.path)}"
