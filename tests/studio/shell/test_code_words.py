"""Commands inside a sentence are shown as code, and nothing in it becomes markup."""

from studio.shell.tags import with_code


def test_words_between_backticks_are_code() -> None:
    assert with_code("Run `manage.py link` now.") == "Run <code>manage.py link</code> now."


def test_markup_stays_text() -> None:
    assert with_code("<b> `<i>` ` alone") == "&lt;b&gt; <code>&lt;i&gt;</code> ` alone"
