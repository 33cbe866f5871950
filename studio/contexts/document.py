"""A sample context as the JSON that the studio hands out and takes back; ``builder render`` reads it too."""

from studio.contexts.models import ContextValues
from studio.contexts.pasted_json import write_json


def context_document(values: ContextValues) -> str:
    """The round as the builder has it, with what the studio knows beside it."""
    about = {"name": values.name, "description": values.description}
    return write_json(about | values.round.model_dump(mode="json") | {"submission": values.submission})
