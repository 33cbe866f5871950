"""Tokens: exact where the vocabulary is known, honest where it is not."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.cache import tokens
from builder.cache.tokens import TokenCount, count, encoding_for, estimate, recount
from tests.builder.token_samples import ENGLISH, JAPANESE


def midpoint(text: str) -> float:
    return (count(text, "cl100k_base").tokens + count(text, "o200k_base").tokens) / 2


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("順位", 1, 3),
        ("{{ user_prompt }}\n", 4, 4),
        ("🏆", 2, 3),
    ],
)
def test_openai_vocabularies_are_counted_exactly(text: str, o200k: int, cl100k: int) -> None:
    assert count(text, "o200k_base") == TokenCount(o200k, "o200k_base", exact=True)
    assert count(text, "cl100k_base") == TokenCount(cl100k, "cl100k_base", exact=True)


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("openai:gpt-5-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("openai-responses:o4-mini", "o200k_base"),
        ("openrouter/openai/gpt-oss-120b", "o200k_base"),
        ("ft:gpt-4o:acme::abc", "o200k_base"),
        ("GPT-4", "cl100k_base"),
        ("azure:gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
    ],
)
def test_a_model_is_counted_with_its_own_vocabulary(model: str, encoding: str) -> None:
    assert encoding_for(model) == encoding
    assert count("提出内容を改善する", model) == count("提出内容を改善する", encoding)


@pytest.mark.parametrize(
    "model",
    ["google-gla:gemini-2.5-pro", "anthropic:claude-sonnet-4-0", "gpt-40", "o30", "my-gpt-4o", "gpt2", ""],
)
def test_a_model_of_unknown_vocabulary_is_estimated(model: str) -> None:
    assert encoding_for(model) is None
    counted = count("提出内容を改善する", model)
    assert (counted.tokenizer, counted.exact) == ("estimate", False)
    assert counted.margin > 0


def test_special_tokens_in_a_prompt_are_plain_text() -> None:
    assert count("<|endoftext|>").tokens == 7
    assert count("<|endoftext|>", "cl100k_base").tokens == 7


def test_half_a_surrogate_pair_counts_as_a_replacement_character() -> None:
    assert count("a\ud800b") == count("a\ufffdb")
    assert count("\ud83d\ude00") == count("😀")
    assert estimate("\ud800").tokens == 1


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    for counted in (count(text), estimate(text)):
        assert (counted.tokens > 0) == (text != "")


def test_parts_of_a_huge_text_stand_for_the_whole() -> None:
    passage = "".join(ENGLISH + JAPANESE)
    times = 2_500_000 // len(passage)
    counted = count(passage * times)
    assert not counted.exact
    assert counted.tokenizer == "o200k_base"
    assert counted.tokens == pytest.approx(count(passage).tokens * times, rel=counted.margin)
    assert estimate(passage * times).tokens == pytest.approx(estimate(passage).tokens * times, rel=0.01)


def test_a_vocabulary_is_loaded_once_however_many_threads_ask() -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: tokens._tokenizer("cl100k_base"), range(32)))
    assert len({id(tokenizer) for tokenizer in loaded}) == 1


def test_the_library_keeps_no_copy_of_the_vocabularies_in_memory() -> None:
    program = """
from pathlib import Path
from builder.cache.tokens import count
print(count("A question, 順位").tokens, count("A question, 順位", "cl100k_base").tokens)
mapped, resident = False, 0
for line in Path("/proc/self/smaps").read_text().splitlines():
    if "-" in line.split()[0]:
        mapped = "bpe_openai/_bindings" in line
    elif mapped and line.startswith("Rss:"):
        resident += int(line.split()[1])
print(resident < 15_000, resident)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    expected = [str(count("A question, 順位", encoding).tokens) for encoding in ("o200k_base", "cl100k_base")]
    assert done.stdout.split()[:3] == [*expected, "True"], done.stdout


def test_nothing_is_loaded_before_the_first_count() -> None:
    code = (
        "import sys; from builder.cache import tokens; tokens.estimate('a'); assert not tokens._loaded;"
        " tokens.count('a'); assert list(tokens._loaded) == ['o200k_base'];"
        " assert 'bpe_openai' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("passages", [ENGLISH, JAPANESE], ids=["english", "japanese"])
def test_the_estimate_is_as_good_as_it_says(passages: tuple[str, ...]) -> None:
    errors = [abs(estimate(text).tokens / midpoint(text) - 1) for text in passages]
    whole = "".join(passages)
    assert median(errors) < 0.08  # passages of a hundred tokens; over some hundreds it evens out
    assert abs(estimate(whole).tokens / midpoint(whole) - 1) < 0.03
    naive = [abs(len(text) / 4 / midpoint(text) - 1) for text in passages]
    assert median(errors) < median(naive)
    within = [
        abs(count(text, encoding).tokens - estimate(text).tokens)
        <= estimate(text).margin * estimate(text).tokens
        for text in passages
        for encoding in tokens.ENCODINGS
    ]
    assert sum(within) >= 0.9 * len(within)


def test_the_margin_is_wider_for_japanese() -> None:
    assert estimate(ENGLISH[0]).margin == pytest.approx(0.10)
    assert 0.25 < estimate(JAPANESE[2]).margin <= 0.35


@pytest.mark.parametrize("encoding", tokens.ENCODINGS)
def test_a_recount_by_lines_gives_the_same_number(encoding: str) -> None:
    for text in (
        "\n".join((*ENGLISH, *JAPANESE)),
        "a.\n/b\n\n  c\r\n\td\n\n\n",
        "\n",
        "",
        "x" * 60_000 + "\ny",
    ):
        assert recount(text, encoding) == count(text, encoding)
    assert recount("a\nb", "claude-opus-4") == count("a\nb", "claude-opus-4")


@given(st.text(alphabet="ab1 \n\r\t/.'{}%\u3000\x85\x1c順かA🏆", max_size=60))
def test_a_recount_of_odd_lines_does_too(text: str) -> None:
    assert recount(text).tokens == count(text).tokens
    assert recount(text, "cl100k_base").tokens == count(text, "cl100k_base").tokens
