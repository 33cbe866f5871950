"""What the environment may say, and the sentences that refuse the rest."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from studio.shell.data_folder import kept_secret, make_data_folder
from studio.shell.environment import Environment, read_environment


def read(**environ: str) -> Environment:
    return read_environment(environ)


def test_empty_environment_is_a_local_studio() -> None:
    environment = read()
    assert environment.database is None
    assert environment.origins == ()
    assert not environment.https
    assert not environment.debug
    assert environment.workspace_roots == ()
    assert environment.largest_database == 4 * 1024**3


def test_the_largest_database_is_a_number_of_megabytes() -> None:
    assert read(STUDIO_LARGEST_DATABASE="100").largest_database == 100 * 1024**2
    for odd in ("4 GB", "0", "-1", "1e3", "9" * 40):
        with pytest.raises(ImproperlyConfigured, match="write a number of megabytes, such as 4096"):
            read(STUDIO_LARGEST_DATABASE=odd)


def test_requests_of_a_token_are_a_number() -> None:
    assert (read().api_rate, read(STUDIO_API_RATE="50").api_rate) == (600, 50)
    for odd in ("0", "-1", "many", "１"):
        with pytest.raises(ImproperlyConfigured, match="such as 600"):
            read(STUDIO_API_RATE=odd)


def test_a_command_names_the_data_folder_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    assert read().command("export", "a b@1") == "python3 manage.py export 'a b@1'"
    elsewhere = read(STUDIO_DATA=str(tmp_path / "my data"))
    assert elsewhere.command("drift") == f"python3 manage.py drift --data '{tmp_path / 'my data'}'"


def test_mixseeks_own_folder_is_noted_and_never_refused() -> None:
    assert read(MIXSEEK_WORKSPACE="../odd", MIXSEEK_LOG_LEVEL="x").mixseek_workspace == "../odd"


def test_database_url_is_taken_apart_and_unquoted() -> None:
    database = read(DATABASE_URL="postgresql://me:p%40ss@db.example:5433/stu%20dio?sslmode=require").database
    server = {"NAME": "stu dio", "USER": "me", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "5433"}
    assert database == {**server, "OPTIONS": {"sslmode": "require"}}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://me:secret@db/studio", "DATABASE_URL does not begin with postgresql://"),
        ("sqlite:///studio.sqlite3", "DATABASE_URL does not begin with postgresql://"),
        ("postgresql://me:secret@db", "DATABASE_URL names no database"),
        ("postgresql://me:secret@db/a/b", "DATABASE_URL names no database"),
        ("postgresql://me:secret@db:port/studio", "DATABASE_URL is not an address"),
        ("postgresql://me:secret@[db/studio", "DATABASE_URL is not an address"),
        ("postgresql://me:secret@db/studio?sslmode", "DATABASE_URL is not an address"),
        ("postgresql://me:secret@db/studio?speed=11", "DATABASE_URL has the unknown option 'speed'"),
    ],
)
def test_odd_database_url_is_refused_without_repeating_its_password(url: str, reason: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(DATABASE_URL=url)
    assert str(refusal.value).startswith(reason)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("STUDIO_DEBUG", "yes", "STUDIO_DEBUG is 'yes': write 1 or 0."),
        ("STUDIO_DATA", __file__, f"STUDIO_DATA is {__file__!r}, which is not a folder: name a folder."),
        (
            "STUDIO_WORKSPACE_ROOTS",
            "here",
            "STUDIO_WORKSPACE_ROOTS holds 'here': write absolute paths.",
        ),
        ("STUDIO_SKILL_ROOTS", "~/skills", "STUDIO_SKILL_ROOTS holds '~/skills': write absolute paths."),
        (
            "STUDIO_TIME_ZONE",
            "Asia/Edo",
            "STUDIO_TIME_ZONE is 'Asia/Edo': write a zone name such as Asia/Tokyo.",
        ),
        (
            "STUDIO_TIME_ZONE",
            "Asia",
            "STUDIO_TIME_ZONE is 'Asia': write a zone name such as Asia/Tokyo.",
        ),
        (
            "STUDIO_SECRET_KEY",
            "short",
            "STUDIO_SECRET_KEY has 5 characters: write 50 or more random ones, "
            "or leave it out and a key is kept in the data folder.",
        ),
    ],
)
def test_odd_value_is_refused_with_what_to_write(name: str, value: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(**{name: value})
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    "origin",
    [
        "studio.example.org",
        "https://*",
        "ftp://a",
        "https://a/b",
        "https://me@a",
        "http://a:99999",
        "https://",
    ],
)
def test_origin_that_is_no_plain_address_is_refused(origin: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="write addresses like https://studio"):
        read(STUDIO_ORIGINS=origin)


def test_cookies_are_secure_only_where_every_origin_is_https() -> None:
    both = read(STUDIO_ORIGINS="https://studio.example.org, http://[::1]:9000/")
    assert both.origins == ("https://studio.example.org", "http://[::1]:9000")
    assert both.hosts == ("studio.example.org", "[::1]")
    assert not both.https
    assert read(STUDIO_ORIGINS="https://studio.example.org").https


def test_time_zone_of_the_machine_is_used_where_it_is_a_known_one() -> None:
    assert read(TZ="Asia/Tokyo").time_zone == "Asia/Tokyo"
    assert read(TZ=":/nowhere", STUDIO_TIME_ZONE="Europe/Paris").time_zone == "Europe/Paris"


def test_secret_key_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    key = kept_secret(data)
    assert kept_secret(data) == key
    assert len(key) >= 50
    assert (data / "secret_key").stat().st_mode & 0o777 == 0o600
    assert data.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in data.iterdir()] == ["secret_key"]


def test_data_folder_is_closed_to_others(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    kept_secret(data)
    data.chmod(0o755)
    (data / "studio.sqlite3").touch()
    (data / "studio.sqlite3").chmod(0o644)
    make_data_folder(data)
    assert [path.stat().st_mode & 0o777 for path in (data, data / "studio.sqlite3")] == [0o700, 0o600]


def test_folder_of_other_things_is_not_closed_but_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ImproperlyConfigured, match="holds other files: name a folder of the studio's own"):
        make_data_folder(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_proxies_are_those_of_this_machine_unless_named() -> None:
    assert read().proxies == ()
    local = read(STUDIO_ORIGINS="https://studio.example.org").proxies
    assert [str(network) for network in local] == ["127.0.0.0/8", "::1/128"]
    named = read(STUDIO_PROXIES="10.0.0.5, 192.168.1.0/24").proxies
    assert [str(network) for network in named] == ["10.0.0.5/32", "192.168.1.0/24"]
    with pytest.raises(ImproperlyConfigured, match=r"STUDIO_PROXIES: .*write addresses or networks"):
        read(STUDIO_PROXIES="proxy.example.org")


def test_truncated_secret_key_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("")
    with pytest.raises(ImproperlyConfigured, match="too short to be a key: remove it and a new one is made"):
        kept_secret(tmp_path)


def test_data_folder_that_cannot_be_made_is_said_with_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=r"cannot be written .*--data DIR or STUDIO_DATA"):
        make_data_folder(tmp_path / "file" / "data")


def test_without_psycopg_a_database_url_is_refused_with_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['psycopg'] = None; import studio.settings"
    environ = {"STUDIO_DATA": str(tmp_path), "DATABASE_URL": "postgresql://me:secret@db/studio"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert "pip install prompt-studio[postgres]" in done.stderr and "secret" not in done.stderr
