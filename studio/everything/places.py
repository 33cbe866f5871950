"""Where everything is written to and read from: a folder, or a zip with the same files.

Used by the commands and the page of everything. What is read may come from a stranger: links and paths that
lead elsewhere are refused, and so is more than the limits below.
"""

import os
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import IO, Protocol

MOST_FILES = 1_000_000
MOST_BYTES = 32 * 1024**3
"""Of all files."""
LARGEST_FILE = 4 * 1024 * 1024
"""Of one that is read as a whole."""
LONGEST_LINE = 64 * 1024 * 1024
"""Of a file that is read line by line."""
_LONGEST_PATH = 1000
_TOP = "prompt-studio"
"""The folder within a zip."""


class EverythingError(Exception):
    """Everything cannot be written or read; the text says why and what to do."""


class Target(Protocol):
    """Takes files."""

    def write(self, path: str, parts: Iterable[bytes]) -> None:
        """A new file."""


class FolderTarget:
    """A folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, path: str, parts: Iterable[bytes]) -> None:
        """A new file in it."""
        place = self._folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.writelines(parts)


class ZipTarget:
    """A zip, written as it goes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def write(self, path: str, parts: Iterable[bytes]) -> None:
        """A new file in it."""
        with self._archive.open(f"{_TOP}/{path}", "w", force_zip64=True) as file:
            for part in parts:
                file.write(part)


@contextmanager
def new_folder(path: Path) -> Iterator[FolderTarget]:
    """A folder that takes its name when all went well, and vanishes when not."""
    if path.exists() or path.is_symlink():
        raise EverythingError(f"{path} exists already: name a new folder.")
    try:
        aside = Path(tempfile.mkdtemp(dir=path.absolute().parent, prefix=f".{path.name}."))
        try:
            yield FolderTarget(aside)
            os.rename(aside, path)
        finally:
            rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise EverythingError(f"{error.filename or path} cannot be written ({error.strerror}).") from error


class Source:
    """Files by their paths, each within the limits."""

    def __init__(self, sizes: dict[str, int]) -> None:
        if len(sizes) > MOST_FILES or sum(sizes.values()) > MOST_BYTES:
            raise EverythingError(f"There is more in it than {MOST_FILES:,} files or {MOST_BYTES:,} bytes.")
        self._sizes = sizes

    def paths(self, folder: str, ending: str) -> list[str]:
        """The files directly in a folder, sorted."""
        inside = f"{folder}/"
        return sorted(
            path
            for path in self._sizes
            if path.startswith(inside) and path.endswith(ending) and "/" not in path[len(inside) :]
        )

    def folders(self, folder: str) -> list[str]:
        """The folders directly in a folder, sorted."""
        deep = folder.count("/") + 1
        split = (path.split("/") for path in self._sizes if path.startswith(f"{folder}/"))
        return sorted({"/".join(parts[: deep + 1]) for parts in split if len(parts) > deep + 1})

    def read(self, path: str) -> bytes:
        """A small file as a whole."""
        with self._file(path) as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise EverythingError(f"{path} has more than {LARGEST_FILE:,} bytes.")
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        """A large one line by line."""
        with self._file(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise EverythingError(f"{path} has a line of more than {LONGEST_LINE:,} bytes.")
                yield line

    @contextmanager
    def _file(self, path: str) -> Iterator[IO[bytes]]:
        if path not in self._sizes:
            raise EverythingError(f"{path} is missing.")
        try:
            with self._open(path) as file:
                yield file
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise EverythingError(f"{path} cannot be read ({error}).") from error

    def _open(self, path: str) -> IO[bytes]:
        raise NotImplementedError


class FolderSource(Source):
    """A folder that `write_all` wrote, or a zip that was unpacked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__(dict(self._listed()))

    def _listed(self) -> Iterator[tuple[str, int]]:
        def fail(error: OSError) -> None:
            raise EverythingError(f"{error.filename} cannot be read ({error.strerror}).") from error

        for here, _folders, files in os.walk(self._folder, onerror=fail):
            for name in files:
                place = Path(here, name)
                facts = place.lstat()
                if stat.S_ISREG(facts.st_mode):
                    yield place.relative_to(self._folder).as_posix(), facts.st_size

    def _open(self, path: str) -> IO[bytes]:
        handle = os.open(self._folder / path, os.O_RDONLY | os.O_NOFOLLOW)
        return os.fdopen(handle, "rb")


class ZipSource(Source):
    """The zip that the button gives."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist()[: MOST_FILES + 1]:
            if not member.is_dir():
                self._members[_inside(member, self._members)] = member
        super().__init__({path: member.file_size for path, member in self._members.items()})

    def _open(self, path: str) -> IO[bytes]:
        return self._archive.open(self._members[path])


def _inside(member: zipfile.ZipInfo, taken: dict[str, zipfile.ZipInfo]) -> str:
    """A member's path below the zip's one folder; whatever could lead elsewhere is refused."""
    name = member.filename
    path = PurePosixPath(name)
    odd = (
        "\\" in name or "\0" in name or path.is_absolute() or ".." in path.parts or len(name) > _LONGEST_PATH
    )
    if odd or str(path) != name:
        raise EverythingError(f"The zip has a file with the path {name[:100]!r}.")
    if stat.S_ISLNK(member.external_attr >> 16) or member.flag_bits & 1:
        raise EverythingError(f"The zip has a link or an encrypted file, {name[:100]!r}.")
    inside = name.removeprefix(f"{_TOP}/")
    if inside in taken:
        raise EverythingError(f"The zip has {name[:100]!r} twice.")
    return inside


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The folder or the zip."""
    if path.is_dir():
        yield FolderSource(path)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield ZipSource(archive)
    except FileNotFoundError as error:
        raise EverythingError(f"There is no {path}.") from error
    except zipfile.BadZipFile as error:
        raise EverythingError(f"{path} is neither a folder nor a zip that can be read.") from error
    except OSError as error:
        raise EverythingError(f"{path} cannot be read ({error.strerror}).") from error
