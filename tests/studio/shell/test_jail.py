"""The studio's pool of workers."""

import pytest

from studio.shell import jail


def test_the_process_has_one_pool() -> None:
    assert jail.pool() is jail.pool()


def test_pool_renders_a_persons_text() -> None:
    assert jail.pool().render("evaluator", "Q: {{ user_prompt }}", {"user_prompt": "why?"}) == "Q: why?"


@pytest.mark.parametrize(
    ("missing", "said"), [("seccomp_supported", "studio.W001"), ("landlock_supported", "studio.W002")]
)
def test_system_check_says_what_is_missing(missing: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("seccomp_supported", "landlock_supported"):
        monkeypatch.setattr(jail, name, lambda: True)
    assert jail.check_confinement() == []
    monkeypatch.setattr(jail, missing, lambda: False)
    assert [message.id for message in jail.check_confinement()] == [said]
