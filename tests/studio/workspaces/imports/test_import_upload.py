"""Import of a file from a person's machine: looked at first, then a version, a new set or a draft."""

import json
import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from builder.jail import JailPool
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion, Upload
from studio.prompts.models import Origin
from studio.prompts.texts import Templates
from studio.shell.files import MOST_BYTES
from studio.workspaces.imports.models import UPLOADS_KEPT
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_context, make_set, sent
from tests.studio.jail import UseJail
from tests.studio.markup import tight
from tests.studio.workspaces.imports.incoming_files import EDITED, NEW_TEAM, toml

INLINE = f"prompt_builder = {{{', '.join(f'{n} = {json.dumps(t)}' for n, t in vars(EDITED).items())}}}"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    return make_set(person)


def upload(client: Client, data: bytes | str, target: str = "set", name: str = "prompts.toml") -> str:
    """Hand a file in; the address of the page that shows it."""
    data = data.encode() if isinstance(data, str) else data
    answer = client.post("/prompts/import/", {"set": target, "file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def page_of(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return shown(answer.content.decode())


def shown(page: str) -> str:
    """The page's text, in one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<(?!/?(?:ins|del))[^>]*>", " ", page)))


def hidden(client: Client, address: str) -> dict[str, str]:
    """What the confirmation on a page sends beside what a person types."""
    page = client.get(address).content.decode()
    form = page[page.index('id="confirm"') :]
    return dict(re.findall(r'<input type="hidden" name="(sha256|base)" value="([^"]*)"', form))


@pytest.mark.parametrize("into", ["version", "draft"])
def test_a_second_click_makes_no_second_set(signed_in: Client, into: str) -> None:
    address = upload(signed_in, toml(EDITED), target="")
    first = confirm(signed_in, address, into=into, name="調査")
    assert first[0] == 302 and confirm(signed_in, address, into=into, name="調査") == first
    assert PromptSet.objects.count() == 1
    # Another name, or the same after a while, is meant.
    assert confirm(signed_in, address, into=into, name="調査 2")[1] != first[1]
    PromptSet.objects.update(created_at=NOW)
    assert confirm(signed_in, address, into=into, name="調査")[1] not in ("", first[1])
    assert PromptSet.objects.count() == 3


def confirm(client: Client, address: str, into: str = "version", **more: str) -> tuple[int, str]:
    answer = client.post(address, {**hidden(client, address), "into": into, **more})
    return answer.status_code, str(answer.get("Location", "")) or shown(answer.content.decode())


def test_a_file_is_shown_beside_the_newest_version_and_becomes_the_next_one(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    address = upload(signed_in, toml())
    assert re.fullmatch(r"/prompts/import/\d+/\?set=set", address)
    page = page_of(signed_in, address)
    assert "Round {{ round_number }}<ins>, go!</ins>" in page
    assert "the file, line 3 +1 −1" in page and "the file, line 8 unchanged" in page
    assert PromptVersion.objects.count() == 1
    assert confirm(signed_in, address, message="  From my machine ") == (302, "/prompts/set/")
    prompt_set.refresh_from_db()
    made = prompt_set.latest
    assert made is not None and made.templates == EDITED
    assert (made.number, made.message, made.origin) == (2, "From my machine", Origin.IMPORTED)
    digest = Upload.objects.get().sha256[:12]
    assert re.fullmatch(
        rf"prompts\.toml \(sha256 {digest}, \d{{4}}-\d\d-\d\d \d\d:\d\d UTC\)", made.origin_note
    )
    # The page stays, and says that there is nothing left to do.
    assert "Nothing to import: v2 of «Set» already has this text." in page_of(signed_in, address)


def test_without_a_message_the_history_names_the_file(signed_in: Client, prompt_set: PromptSet) -> None:
    confirm(signed_in, upload(signed_in, toml()), message="")
    assert PromptVersion.objects.get(number=2).message == "Import of prompts.toml"


def test_a_file_becomes_a_new_set_with_a_name(signed_in: Client, person: User) -> None:
    address = upload(signed_in, toml(), target="")
    page = page_of(signed_in, address)
    assert "Import as a new set" in page and "Round {{ round_number }}, go!" in page
    status, page = confirm(signed_in, address, name=" ")
    assert status == 422 and "This field is required." in page
    assert confirm(signed_in, address, name="調査") == (
        302,
        "/prompts/調査/".replace("調査", "%E8%AA%BF%E6%9F%BB"),
    )
    made = PromptVersion.objects.get()
    assert (made.prompt_set.name, made.number, made.templates) == ("調査", 1, EDITED)
    assert (made.origin, made.prompt_set.dialect) == (Origin.IMPORTED, "mixseek-0.1.0a19")


def test_equal_content_makes_no_version(signed_in: Client, prompt_set: PromptSet) -> None:
    address = upload(signed_in, toml(TEXTS, "[other]\nkey = 1\n"))
    page = page_of(signed_in, address)
    assert "Nothing to import: v1 of «Set» already has this text." in page
    assert 'id="confirm"' not in signed_in.get(address).content.decode()
    assert "1 key is not imported" in page and "Unknown key: other" in page
    answer = signed_in.post(
        address, {"sha256": Upload.objects.get().sha256, "base": 1, "into": "version", "message": "m"}
    )
    assert answer["Location"] == "/prompts/set/" and PromptVersion.objects.count() == 1


def test_an_old_text_says_whose_it_is(signed_in: Client, prompt_set: PromptSet, person: User) -> None:
    prompt_set.save_version(EDITED, base=1, message="go", author=person, at=NOW)
    address = upload(signed_in, toml(TEXTS))
    assert "This is the text of v1, which is not the newest version." in page_of(signed_in, address)
    assert confirm(signed_in, address)[0] == 302
    assert PromptVersion.objects.get(number=3).templates == TEXTS


# --- files that are not quite right ------------------------------------------------------


def test_templates_that_the_file_does_not_have_stay_or_are_mixseeks_defaults(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    address = upload(signed_in, f'[prompt_builder]\nteam_user_prompt = """\n{NEW_TEAM}"""\n')
    page = page_of(signed_in, address)
    assert page.count("not in the file unchanged from v1") == 2
    page = page_of(signed_in, address + "&fill=default")
    assert page.count("not in the file the default of mixseek-0.1.0a19") == 2
    alone = page_of(signed_in, address.split("?")[0])
    assert alone.count("not in the file the default of mixseek-0.1.0a19") == 2
    assert confirm(signed_in, address)[0] == 302
    assert PromptVersion.objects.get(number=2).templates == EDITED


UNREADABLE: list[tuple[bytes, str]] = [
    (b"\n\n# nothing\n", "None of the three templates is in this file."),
    (b"[prompt_builder]\nteam_user_promt = 'a'\n", "Did you mean prompt_builder.team_user_prompt?"),
    (b'[prompt_builder]\nteam_user_prompt = "abc\n', "Line 2: not valid TOML:"),
    (b"prompt_builder = 3\n", "Line 1: prompt_builder must be a separate table, but is a TOML integer"),
    ("[prompt_builder]\nteam_user_prompt = '日本語'\n".encode("cp932"), "Line 2: the file is not UTF-8"),
    (b"\xff\xfe\x00\xd8a", "which MixSeek cannot read"),
    (b"<script>alert(1)</script>", "Line 1: not valid TOML"),
]
ALSO_UNREADABLE: list[tuple[bytes, str]] = [
    (b"[[prompt_builder]]\nteam_user_prompt = 'a'\n", "but is a TOML array"),
    (b"[prompt_builder]\n\nteam_user_prompt = 3\n", "Line 3: team_user_prompt must be a string"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "Line 1: the file is not UTF-8"),
    (b"\0" * 500, "Line 1: not valid TOML"),
    ("[prompt_builder]\n".encode("utf-16-le"), "Line 1: not valid TOML"),
    (b"a = " + b"[" * 5000, "nested too deeply"),
]


@pytest.mark.parametrize(
    ("data", "words"),
    [*UNREADABLE, *(pytest.param(*each, marks=pytest.mark.slow) for each in ALSO_UNREADABLE)],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    signed_in: Client, prompt_set: PromptSet, data: bytes, words: str
) -> None:
    address = upload(signed_in, data)
    answer = signed_in.get(address)
    page = answer.content.decode()
    assert answer.status_code == 200 and words in shown(page)
    assert 'id="confirm"' not in page and "<script>alert" not in page
    forced = {"sha256": Upload.objects.get().sha256, "base": 1}
    for into in ("version", "draft"):
        assert signed_in.post(address, {**forced, "into": into}).status_code == 422
    assert PromptVersion.objects.count() == 1 and not Draft.objects.exists()


def test_the_broken_line_is_shown_among_its_neighbours(signed_in: Client, person: User) -> None:
    page = signed_in.get(upload(signed_in, "a = 1\nb = 2\nc = \nd = 4\n", target="")).content.decode()
    page = re.sub(r"<span\s+", "<span ", page)
    assert (
        '<span class="file-line wrong"><span class="n">3</span><span class="sign">!</span>c = </span>' in page
    )
    assert '<span class="n">4</span><span class="sign"> </span>d = 4' in page


@pytest.mark.parametrize(
    ("encoded", "words"),
    [
        (b"\xef\xbb\xbf" + toml().encode(), "begins with a byte order mark (BOM)"),
        (toml().encode("utf-16"), "The file is in UTF-16."),
        (toml().replace("\n", "\r\n").encode(), "has Windows line endings (CRLF)"),
        (toml().replace("go!\n", "go!\\r\\n\\\n").encode(), "the text contains carriage returns"),
        (INLINE.encode(), "the file, line 1"),
    ],
)  # fmt: skip
def test_other_ways_to_write_the_same_come_in_as_the_same(
    signed_in: Client, prompt_set: PromptSet, encoded: bytes, words: str
) -> None:
    address = upload(signed_in, encoded)
    assert words in page_of(signed_in, address)
    assert confirm(signed_in, address)[0] == 302
    assert PromptVersion.objects.get(number=2).templates == EDITED


def test_errors_have_the_lines_of_the_file_and_of_the_template(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    wrong = Templates("# Task\n{{ user_promt }}\n", TEXTS.evaluator_user_prompt, "{{ cycler.__init__ }}\n")
    address = upload(signed_in, toml(wrong))
    page = page_of(signed_in, address)
    assert "File line 5 · Team line 2 Error user_promt is not a variable of this template." in page
    assert "File line 12 · Judgment line 1 Error" in page
    assert "It cannot be saved as a version because" in page and "Import as v2" not in page
    status, page = confirm(signed_in, address)
    assert status == 422 and "is not a variable" in page and PromptVersion.objects.count() == 1


@pytest.mark.slow
def test_what_fails_in_a_context_of_the_set_cannot_become_a_version(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    context = make_context("third", rounds=3, prompt_set=prompt_set)
    failing = "{% if round_number == 3 %}{{ 1 // 0 }}{% endif %}\n{{ user_prompt }}\n"
    wrong = Templates(failing, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    address = upload(signed_in, toml(wrong))
    page = page_of(signed_in, address)
    assert "Third, round 3 :" in page and "It cannot be saved as a version" in page
    assert confirm(signed_in, address)[0] == 422 and PromptVersion.objects.count() == 1
    # In a context that all sets share it is a warning.
    context.prompt_set = None
    context.save()
    page = page_of(signed_in, address)
    assert "Third, round 3 :" in page and "Import as v2" in page
    assert confirm(signed_in, address)[0] == 302 and PromptVersion.objects.count() == 2


@pytest.mark.slow
def test_too_long_a_template_is_refused_and_no_draft_is_offered(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    address = upload(signed_in, toml(Templates("x\n" * 40_000, "a\n", "b\n")))
    page = page_of(signed_in, address)
    assert "The template has 80000 characters; 65536 are allowed." in page
    assert "as a version or a draft" in page and "Open in the editor" not in page
    assert confirm(signed_in, address, into="draft")[0] == 422


@pytest.mark.slow
def test_thousands_of_foreign_keys_are_counted_and_not_all_shown(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    more = "[x]\na = 1\n" + "".join(f"[t{number}]\n" for number in range(3_000))
    page = page_of(signed_in, upload(signed_in, toml(more=more)))
    assert "3001 keys are not imported" in page and "and 2901 more" in page


def test_without_the_jail_nothing_is_guessed(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    address = upload(signed_in, toml())
    seen = {**hidden(signed_in, address), "into": "version"}
    stopped = JailPool(size=1)
    stopped.close()
    use_jail(stopped)
    assert signed_in.get(address).status_code == 503
    assert signed_in.post(address, seen).status_code == 503
    assert PromptVersion.objects.count() == 1


# --- nothing changes between looking and confirming --------------------------------------


def test_a_version_saved_meanwhile_is_shown_instead_of_built_upon(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    address = upload(signed_in, toml())
    seen = hidden(signed_in, address)
    theirs = Templates("# Theirs\n{{ user_prompt }}\n", "b\n", "c\n")
    prompt_set.save_version(theirs, base=1, message="faster", author=person, at=NOW)
    for into in ("version", "draft"):
        answer = signed_in.post(address, {**seen, "into": into, "message": "mine"})
        page = shown(answer.content.decode())
        assert (
            answer.status_code == 409
            and "yuki saved v2 since you opened this page. Nothing was imported." in page
        )
        assert "# <del>Theirs</del>" in page and 'value="mine"' in answer.content.decode()
    assert PromptVersion.objects.count() == 2 and not Draft.objects.exists()
    assert confirm(signed_in, address)[0] == 302


def test_what_was_not_seen_is_not_imported(signed_in: Client, prompt_set: PromptSet) -> None:
    address = upload(signed_in, toml())
    seen = hidden(signed_in, address)
    answer = signed_in.post(address, {**seen, "sha256": "0" * 64, "into": "version"})
    assert (
        answer.status_code == 409
        and "The file has changed since you opened this page." in answer.content.decode()
    )
    for broken in ({"sha256": "x"}, {"base": "x"}, {"base": "9" * 30}, {"into": "nowhere"}):
        assert signed_in.post(address, {**seen, "into": "version", **broken}).status_code == 400
    assert signed_in.post(address, {**seen, "into": "version", "message": "x" * 501}).status_code == 422
    assert PromptVersion.objects.count() == 1


def test_rows_are_unfolded_by_address_and_alone(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    long = "".join(f"line {number}\n" for number in range(60))
    old = Templates(f"{long}{{{{ user_prompt }}}}\n", *list(vars(TEXTS).values())[1:])
    new = Templates(f"{long}{{{{ user_prompt }}}}!\n", *list(vars(TEXTS).values())[1:])
    prompt_set.save_version(old, base=1, message="long", author=person, at=NOW)
    address = upload(signed_in, toml(new))
    assert "line 30" not in page_of(signed_in, address)
    assert "line 30" in page_of(signed_in, f"{address}&open=team.0-57")
    assert "line 30" in page_of(signed_in, f"{address}&all=on")
    alone = signed_in.get(f"{address}&rows=team.0-57").content.decode()
    assert "line 30" in alone and "<html" not in alone
    assert signed_in.get(f"{address}&rows=team.x").status_code == 400


# --- the editor --------------------------------------------------------------------------


def test_a_file_with_errors_is_taken_into_the_editor(signed_in: Client, prompt_set: PromptSet) -> None:
    wrong = Templates("{{ user_promt }}\n", TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    address = upload(signed_in, toml(wrong))
    assert confirm(signed_in, address, into="draft") == (302, "/prompts/set/edit/")
    draft = Draft.objects.get()
    assert (draft.templates, draft.base, draft.message) == (wrong, 1, "Import of prompts.toml")
    assert not DraftCopy.objects.exists()
    # Taken again, nothing is doubled.
    assert confirm(signed_in, address, into="draft") == (302, "/prompts/set/edit/")
    assert not DraftCopy.objects.exists()


def test_beside_a_draft_with_changes_both_are_kept(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    Draft.objects.keep(prompt_set, person, sent("my own words\n"), at=NOW)
    address = upload(signed_in, toml())
    status, where = confirm(signed_in, address, into="draft")
    aside = DraftCopy.objects.get()
    assert (status, where) == (302, f"/prompts/set/conflict/?copy={aside.pk}")
    assert (aside.templates, aside.get_reason_display()) == (EDITED, "Imported")
    assert Draft.objects.get().team_user_prompt == "my own words\n"
    page = page_of(signed_in, where)
    assert "my own words" in page and "go!" in page


def test_a_new_set_can_begin_in_the_editor(signed_in: Client, person: User) -> None:
    address = upload(signed_in, toml(Templates("{{ wrong }}\n", "a\n", "b\n")), target="")
    assert confirm(signed_in, address, into="draft", name="Fresh") == (302, "/prompts/fresh/edit/")
    assert (PromptSet.objects.get().revision, Draft.objects.get().base) == (0, 0)
    assert "{{ wrong }}" in signed_in.get("/prompts/fresh/edit/").content.decode()


# --- uploading ---------------------------------------------------------------------------


def test_the_page_offers_sets_and_workspaces(signed_in: Client, prompt_set: PromptSet) -> None:
    page = signed_in.get("/prompts/import/?set=set").content.decode()
    assert '<option value="set" selected>Set</option>' in tight(page) and "multipart/form-data" in page
    assert "/prompts/import/?set=set" in signed_in.get("/prompts/set/").content.decode()
    assert "/prompts/import/" in signed_in.get("/prompts/").content.decode()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "Choose a file first."),
        ({"file": SimpleUploadedFile("a.toml", b"")}, "The file is empty."),
        pytest.param(
            {"file": SimpleUploadedFile("a.toml", b"x" * (2 * 1024 * 1024 + 1))},
            "larger than 2.0\xa0MB",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_upload_that_is_none_is_told_at_its_field(
    signed_in: Client, files: dict[str, SimpleUploadedFile], words: str
) -> None:
    answer = signed_in.post("/prompts/import/", {"set": "", **files})
    assert answer.status_code == 422 and words in unescape(answer.content.decode())
    assert not Upload.objects.exists()


@pytest.mark.slow
def test_a_huge_upload_is_refused_before_it_is_read(signed_in: Client) -> None:
    answer = signed_in.post("/prompts/import/", {"file": SimpleUploadedFile("a", b"x" * MOST_BYTES)})
    assert answer.status_code == 413 and "larger than the studio accepts" in answer.content.decode()


def _multipart(disposition: bytes, content: bytes) -> bytes:
    head = b"--x\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n"
    return head + content + b"\r\n--x--\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        (b'name="file"; filename="a\0b/../../c.toml"', "c.toml"),
        (b'name="file"; filename="C:\\temp\\\xe3\x83\x97.toml"', "プ.toml"),
        (b"name=\"file\"; filename*=UTF-8''%e3%83%97.toml", "プ.toml"),
        (b'name="file"; filename="' + b"n" * 400 + b'.toml"', "n" * 250 + ".toml"),
        (b'name="file"; filename="<b>.toml"', "<b>.toml"),
    ],
)
def test_odd_file_names_are_only_names(signed_in: Client, disposition: bytes, name: str) -> None:
    answer = signed_in.generic(
        "POST",
        "/prompts/import/",
        _multipart(disposition, toml().encode()),
        "multipart/form-data; boundary=x",
    )
    assert answer.status_code == 302
    assert Upload.objects.get().name == name
    page = signed_in.get(answer["Location"]).content.decode()
    assert "<b>.toml" not in page and "..." not in page


@pytest.mark.slow
@pytest.mark.parametrize(
    "disposition",
    [
        b'name="file"; filename="\xff\xfe.toml"',
        b'name="file"; filename="\0"',
        b'name="file"; filename=".."',
        b"name=\"file\"; filename*=bogus''x",
        b"file",
    ],
)
def test_a_file_without_a_name_is_no_file(signed_in: Client, disposition: bytes) -> None:
    body = _multipart(disposition, toml().encode())
    answer = signed_in.generic("POST", "/prompts/import/", body, "multipart/form-data; boundary=x")
    assert answer.status_code in (400, 422)


def test_an_upload_is_its_persons_own_and_only_the_newest_are_kept(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    theirs = Upload.objects.keep(User.objects.create_user("ken"), "a", toml().encode(), at=NOW)
    assert signed_in.get(theirs.get_absolute_url()).status_code == 404
    first = upload(signed_in, toml())
    assert upload(signed_in, toml()) == first
    for number in range(UPLOADS_KEPT):
        Upload.objects.keep(person, str(number), b"x", at=NOW.replace(year=2999))
    assert Upload.objects.filter(person=person).count() == UPLOADS_KEPT
    assert signed_in.get(first).status_code == 404
    assert signed_in.get(f"/prompts/import/{theirs.pk}/?set=nothing").status_code == 404
