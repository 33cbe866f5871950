"""What agents of workspaces on other machines send and get. Used by ``machine_views``."""

from datetime import UTC, datetime

from pydantic import AwareDatetime, BaseModel, Field

from studio.api.answers import StoredText, Word

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class MachineFacts(BaseModel):
    """The machine, as system prompts speak of it."""

    host: Word = ""
    os: Word = ""
    python: Word = ""
    home: Word = ""
    repository: str = Field(
        default="", pattern=r"^(yes)?$", description="Whether the workspace is a Git repository."
    )
    mixseek: Word = Field(default="", description="The version of MixSeek installed in the workspace.")


class MachineSent(BaseModel):
    """A workspace on another machine."""

    machine: str = Field(min_length=1, max_length=100, pattern=r"^[^\s:/]+$")
    folder: str = Field(min_length=1, max_length=800, pattern=r"^/[^\x00-\x1f]*$")
    name: Word = ""
    facts: MachineFacts = MachineFacts()


class MachineShown(BaseModel):
    """What an agent needs to know."""

    workspace: str
    texts: bool = Field(description="Whether prompts, submissions and comments are to be sent.")
    lease_seconds: int
    tag: str = Field(description="Changes with what the studio has of the workspace's database.")
    generation: int = Field(description="Changes when the studio merges batches; sent back with each.")
    next_batch: int
    files: dict[str, str] = Field(description="SHA-256 of the files that the studio has, by name.")
    orders: int = Field(description="Exports that wait for the agent.")


class DigestsShown(BaseModel):
    """A hash over the rows of each execution that the studio has."""

    digests: dict[str, str]


class FileSent(BaseModel):
    """A file of the workspace."""

    name: str = Field(max_length=500)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    data: str = Field(description="Its content in Base64.", max_length=8_000_000)
    modified_at: AwareDatetime = Field(ge=_EARLIEST, lt=_LATEST)


class FilesSent(BaseModel):
    """Files that changed, and names of those that are gone."""

    files: list[FileSent] = Field(max_length=500)
    gone: list[StoredText] = Field([], max_length=10_000)


class CommitSent(BaseModel):
    """Batches that belong together have all been sent."""

    up_to: int = Field(ge=0, le=2**53)
    digests: dict[Word, Word] = Field(description="Of the executions in them.")
    gone: list[Word] = Field([], description="Executions that are no longer in the database.")
    generation: int
    texts: bool


class OrderShown(BaseModel):
    """An export that was confirmed in the studio."""

    export: int
    file: str
    sha256_before: str = Field(description="Of the file that is to be replaced; empty where there is none.")
    data: str | None = Field(description="The new content in Base64; null takes the file away.")


class OrdersShown(BaseModel):
    """Exports that wait for the agent, in their order."""

    orders: list[OrderShown]


class ReceiptSent(BaseModel):
    """What came of an order."""

    export: int
    outcome: str = Field(pattern=r"^(written|failed)$")
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$", description="Of the file as it is now.")
    error_code: str = Field("", pattern=r"^[a-z0-9-]{0,60}$")
    error_params: dict[Word, StoredText | int] = {}
    owner_kept: bool = True
    durable: bool = True


class BatchHead(BaseModel):
    """What stands before the rows of a batch."""

    table: str = Field(max_length=40)
    replaces: list[Word] = Field(max_length=10_000)
    generation: int
    texts: bool


class Noted(BaseModel):
    """The report was taken."""

    new: bool
