import pytest

from builder.errors import PromptFileInvalid
from builder.files.orchestrator_file import NamedFile, named_prompt_file
from builder.jail import JailPool

NAMING = b'# the teams\n[orchestrator]\nmax_rounds = 3\nprompt_builder_config = "configs/own.toml"\n'


def test_the_named_file_comes_with_its_line() -> None:
    assert named_prompt_file(NAMING, "o.toml") == NamedFile("configs/own.toml", 4)


@pytest.mark.parametrize(
    "data", [b"", b"[orchestrator]\n", b'[orchestrator]\nprompt_builder_config = ""\n', b"[other]\nx = 1\n"]
)
def test_without_a_name_the_usual_place_counts(data: bytes) -> None:
    assert named_prompt_file(data, "o.toml") is None


def test_a_name_that_is_no_string_is_refused_with_its_line() -> None:
    with pytest.raises(PromptFileInvalid) as found:
        named_prompt_file(b"[orchestrator]\n\nprompt_builder_config = 3\n", "o.toml")
    assert str(found.value) == "o.toml, line 3: prompt_builder_config must be a string, but is a TOML integer"


@pytest.mark.slow
def test_the_jail_answers_the_same() -> None:
    with JailPool(size=0, spares=0, batch_size=1) as pool:
        assert pool.named_prompt_file(NAMING, "o.toml") == NamedFile("configs/own.toml", 4)
        assert pool.named_prompt_file(b"", "o.toml") is None
        with pytest.raises(PromptFileInvalid, match="line 1: not valid TOML"):
            pool.named_prompt_file(b"[broken\n", "o.toml")
