"""The studio's pool of workers."""

import pytest

from studio.shell import jail


def test_the_process_has_one_pool() -> None:
    assert jail.pool() is jail.pool()


def test_pool_renders_a_persons_text() -> None:
    assert jail.pool().render("evaluator", "Q: {{ user_prompt }}", {"user_prompt": "why?"}) == "Q: why?"


def test_system_check_says_where_the_filter_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "seccomp_supported", lambda: False)
    assert [message.id for message in jail.check_seccomp()] == ["studio.W001"]
    monkeypatch.setattr(jail, "seccomp_supported", lambda: True)
    assert jail.check_seccomp() == []
