"""The OpenAPI document: what ninja knows of the operations, and the conventions that hold for all of them.

Used by the reference page, by `manage.py openapi` and by the test that compares it with the committed file.
"""

import json
from pathlib import Path
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from studio.api.gate import READ, SCOPES, SentJson, Token
from studio.api.problems import Problem

FILE = Path(__file__).with_name("openapi.json")
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    "description": "The same key gets the first answer again, for a day.",
}
_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The ETag of what was read; refused with 412 where it is another one now.",
}


class StudioApi(NinjaAPI):
    """Ninja's API with the studio's names, JSON and problems."""

    def __init__(self) -> None:
        super().__init__(
            title="Prompt Studio",
            version="1",
            description="Errors are problem details (RFC 9457); `code` says which. Lists have a cursor.",
            openapi_url=None,
            docs_url=None,
            urls_namespace="api",
            parser=SentJson(),
            auth=READ,
        )

    def get_openapi_operation_id(self, operation: Any) -> str:
        """The function's own name."""
        return str(operation.view_func.__name__)


def document(api: NinjaAPI) -> dict[str, Any]:
    """The whole document as plain values."""
    made: dict[str, Any] = json.loads(json.dumps(OpenAPISchema(api, "api/v1/")))
    made["tags"] = [{"name": tag} for tag in _tags(api)]
    schema = Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    made["components"]["schemas"] |= schema.pop("$defs")
    made["components"]["schemas"]["Problem"] = schema
    refused = {
        "description": "A problem",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    actions = {
        operation.view_func.__name__: _action(operation.auth_callbacks)
        for router in api._get_bound_routers()
        for view in router.path_operations.values()
        for operation in view.operations
    }
    for methods in made["paths"].values():
        for method, operation in methods.items():
            operation["responses"]["default"] = refused
            operation["x-scope"] = SCOPES[actions[operation["operationId"]]].value
            operation["security"] = [{"Token": []}]
            if method != "get":
                operation["parameters"].append(_KEY)
            if method in ("put", "patch", "delete"):
                operation["parameters"].append(_MATCH)
    return made


def _tags(api: NinjaAPI) -> list[str]:
    """The groups of operations, in the order of the reference."""
    routers = api._get_bound_routers()
    return list(dict.fromkeys(tag for router in routers for tag in router.template.tags or ()))


def _action(callbacks: Any) -> Any:
    return next(callback.action for callback in callbacks if isinstance(callback, Token))


def written(api: NinjaAPI) -> str:
    """As the committed file has it."""
    return json.dumps(document(api), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
