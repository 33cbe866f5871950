"""Reading what others wrote: in part, by no way out, and never waited for."""

import os
from pathlib import Path

import pytest

from builder.errors import BuilderError, PromptFileRefused, PromptFileUnwritable
from builder.files.text_parts import TextPart, list_folder, read_part


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("secret")
    return tmp_path / "root"


def code(path: Path, root: Path) -> str:
    with pytest.raises(BuilderError) as found:
        read_part(path, root, 100)
    assert "secret" not in str(found.value)
    return found.value.code


def test_a_short_file_comes_whole(root: Path) -> None:
    (root / "a.md").write_bytes(b"\xef\xbb\xbf" + "日本\r\n".encode())
    assert read_part(root / "a.md", root, 100) == TextPart("日本\r\n", "", 11, whole=True)
    assert read_part(root / "b.md", root, 100) is None
    assert read_part(root / "no" / "b.md", root, 100) is None


@pytest.mark.parametrize("head", range(1, 12))
@pytest.mark.parametrize("tail", [0, 1, 5, 6, 7])
def test_a_cut_never_halves_a_character(root: Path, head: int, tail: int) -> None:
    text = "aé日😀" * 10
    (root / "a.md").write_text(text, encoding="utf-8")
    part = read_part(root / "a.md", root, head, tail)
    assert part is not None and not part.whole and part.size == 100
    assert text.startswith(part.head) and text.endswith(part.tail)
    assert head - 3 <= len(part.head.encode()) <= head
    assert tail - 3 <= len(part.tail.encode()) <= tail


def test_only_what_is_asked_for_is_read(root: Path) -> None:
    with open(root / "huge.md", "wb") as file:
        file.write(b"x" * 1000)
        file.truncate(8 * 2**40)
    part = read_part(root / "huge.md", root, 100)
    assert part is not None and (len(part.head), part.size) == (100, 8 * 2**40)


def test_links_are_followed_inside_and_refused_outside(root: Path) -> None:
    (root / "in" / "a.md").write_text("here")
    (root / "link.md").symlink_to("in/a.md")
    (root / "folder").symlink_to("in")
    (root / "out.md").symlink_to("../outside.txt")
    (root / "up").symlink_to("..")
    (root / "gone.md").symlink_to("nowhere")
    (root / "gone-out.md").symlink_to("/nowhere/at/all")
    for name in ("link.md", "folder/a.md"):
        part = read_part(root / name, root, 100)
        assert part is not None and part.head == "here"
    assert read_part(root / "gone.md", root, 100) is None
    for name in ("out.md", "up/outside.txt", "gone-out.md"):
        assert code(root / name, root) == "text-link-out"
    assert (
        code(root / ".." / "outside.txt", root) == code(root.parent / "outside.txt", root) == "file-outside"
    )


def test_cyclic_links_are_said_to_be(root: Path) -> None:
    (root / "self.md").symlink_to("self.md")
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "in" / "up").symlink_to("../in")
    assert code(root / "self.md", root) == code(root / "a" / "x.md", root) == "text-link-loop"
    assert read_part(root / "in" / "up" / "up" / "none.md", root, 100) is None


def test_what_is_no_text_file_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo.md")
    (root / "binary.md").write_bytes(b"\x7fELF\0\1")
    (root / "latin.md").write_bytes("café".encode("latin-1"))
    (root / "null").symlink_to("/dev/null")
    assert code(root / "fifo.md", root) == code(root / "in", root) == "text-not-a-file"
    assert code(root / "binary.md", root) == code(root / "latin.md", root) == "text-not-text"
    assert code(root / "null", root) == "text-link-out"
    assert read_part(root / "latin.md" / "a.md", root, 100) is None


def test_what_the_system_refuses_is_told(root: Path) -> None:
    # A name too long is refused to everybody, a closed file not to root.
    for path in (root / ("x" * 300), root / ("x" * 300) / "a.md"):
        with pytest.raises(PromptFileUnwritable, match="cannot be read: File name too long"):
            read_part(path, root, 100)


def test_a_folder_lists_its_names_up_to_a_number(root: Path) -> None:
    for name in ("c", "a", "b"):
        (root / "in" / name).touch()
    (root / "linked").symlink_to("in")
    (root / "out").symlink_to("..")
    assert (
        list_folder(root / "in", root, 3) == list_folder(root / "linked", root, 9) == (["a", "b", "c"], False)
    )
    names, more = list_folder(root / "in", root, 2) or ([], False)
    assert len(names) == 2 and more
    assert list_folder(root / "none", root, 3) is None
    for name in ("out", "in/a"):
        with pytest.raises(PromptFileRefused):
            list_folder(root / name, root, 3)
