"""A studio for assistants in an editor: its sets and versions to read, and texts to try, as tools over the
Model Context Protocol. Used by ``prompt-studio mcp``. Nothing can be changed through it."""

from dataclasses import dataclass
from typing import Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from builder import __version__
from builder.client.connection import Connection
from builder.client.prompts import Studio
from builder.errors import ClientError

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
_ABOUT = (
    "Prompt Studio holds versioned prompt templates for MixSeek. A set has three Jinja2 templates: team, "
    "evaluator and judgment. Check and render a text before you propose it."
)

Kind = Literal["team", "evaluator", "judgment"]


def server_of(studio: Studio) -> MCPServer[Any]:
    """The tools, each a question to the studio's API."""
    server: MCPServer[Any] = MCPServer("prompt-studio", instructions=_ABOUT, version=__version__)
    api = _Questions(studio.connection)

    @server.tool(annotations=READS)
    def list_sets(search: str = "") -> dict[str, Any]:
        """Prompt sets, by address; those whose name has every word of `search`."""
        return dict(api.get("sets", q=search or None, limit=100))

    @server.tool(annotations=READS)
    def list_versions(set: str, search: str = "") -> dict[str, Any]:
        """Versions of a set, the newest first, with messages, authors and labels."""
        return dict(api.get("sets", set, "versions", q=search or None, limit=50))

    @server.tool(annotations=READS)
    def read_version(set: str, version: str = "latest") -> dict[str, Any]:
        """The templates of a version: by number, by label (such as `production`) or the latest."""
        return dict(api.get("sets", set, "versions", version))

    @server.tool(annotations=READS)
    def list_contexts(set: str) -> dict[str, Any]:
        """Sample contexts that a set is tried in: its own and the shared ones."""
        return dict(api.get("contexts", set=set, limit=100))

    @server.tool(annotations=READS)
    def check_template(set: str, kind: Kind, text: str) -> dict[str, Any]:
        """Whether a template could be saved in place of the latest version's, and what is wrong with it."""
        latest = api.get("sets", set, "versions", "latest")["texts"]
        texts = {name: value for name, value in latest.items() if value is not None}
        return dict(api.ask("POST", ("check",), {"set": set, "texts": texts | {_field(kind): text}}))

    @server.tool(annotations=READS)
    def render_template(
        set: str, kind: Kind, text: str, context: str = "", round: int | None = None
    ) -> dict[str, Any]:
        """What a template becomes in a sample context at a round, exactly as MixSeek would send it."""
        body = {"set": set, "texts": {_field(kind): text}, "context": context, "round": round}
        return dict(api.ask("POST", ("render",), body))

    @server.tool(annotations=READS)
    def render_version(
        set: str, version: str = "latest", context: str = "", round: int | None = None
    ) -> dict[str, Any]:
        """The three prompts of a version in a sample context at a round."""
        body = {"set": set, "version": version, "context": context, "round": round}
        return dict(api.ask("POST", ("render",), body))

    @server.tool(annotations=READS)
    def compare_versions(set: str, old: str, new: str) -> dict[str, Any]:
        """The difference between two versions of a set."""
        return dict(api.get("sets", set, "compare", old=old, new=new))

    return server


@dataclass(frozen=True)
class _Questions:
    """The API, with its refusals as the protocol's errors: the assistant reads why."""

    connection: Connection

    def get(self, *parts: str | int, **query: str | int | None) -> Any:
        return self.ask("GET", parts, query=query)

    def ask(self, method: str, parts: tuple[str | int, ...], body: Any = None, **more: Any) -> Any:
        try:
            return self.connection.ask(method, parts, body, **more)
        except ClientError as error:
            raise ToolError(f"{error.text()} {error.advice()}".strip()) from None


def _field(kind: Kind) -> str:
    return f"{kind}_user_prompt"
