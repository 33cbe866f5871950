"""Without JavaScript every control is a plain link or form, and works."""

from playwright.sync_api import Page, expect


def test_search_is_a_form(plain: Page, server: str) -> None:
    plain.goto("/prompts/")
    plain.get_by_role("searchbox").fill("brief")
    plain.get_by_role("button", name="Search").click()
    expect(plain).to_have_url(f"{server}/prompts/?q=brief")
    expect(plain.get_by_role("row")).to_have_count(2)


def test_language_and_theme_are_forms(plain: Page) -> None:
    plain.goto("/contexts/")
    plain.get_by_role("button", name="Dark").click()
    expect(plain.locator("html")).to_have_attribute("data-theme", "dark")
    plain.get_by_role("button", name="日本語").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("コンテキスト")


def test_a_file_is_uploaded_looked_at_and_taken_into_the_editor(plain: Page, server: str) -> None:
    plain.goto("/prompts/import/")
    text = '[prompt_builder]\nteam_user_prompt = """\n{{ user_prompt }}\n{{ nobody }}\n"""\n'
    file = {"name": "mine.toml", "mimeType": "text/plain", "buffer": text.encode()}
    plain.get_by_label("File").set_input_files(file)
    plain.get_by_role("button", name="Review").click()
    expect(plain.get_by_label("Name of the new set")).to_have_value("mine")
    plain.get_by_label("Prompt set", exact=True).select_option("Briefing writers")
    plain.get_by_role("button", name="Compare").click()
    expect(plain.locator(".import-problems")).to_contain_text("File line 4 · Team line 2")
    held = plain.locator("#judgment .held a").first
    held.click()
    expect(plain.locator("#judgment .held")).to_have_count(0)
    # The file is there under its address, in the other language too.
    plain.get_by_role("button", name="日本語").click()
    expect(plain.get_by_role("heading", level=1)).to_have_text("mine.toml のインポート")
    plain.get_by_role("button", name="English").click()
    plain.get_by_role("button", name="Open in the editor").click()
    expect(plain).to_have_url(f"{server}/prompts/briefing-writers/edit/")
    expect(plain.get_by_label("team_user_prompt")).to_have_value("{{ user_prompt }}\n{{ nobody }}\n")


def test_what_only_scripts_can_do_is_not_offered(plain: Page) -> None:
    plain.goto("/prompts/research-team/versions/5/")
    expect(plain.get_by_role("button", name="Copy")).to_have_count(0)


def test_the_menu_opens_and_signs_out(plain: Page, server: str) -> None:
    plain.goto("/prompts/")
    plain.get_by_text("operator").click()
    plain.get_by_role("button", name="Sign out").click()
    expect(plain).to_have_url(f"{server}/signin/")
