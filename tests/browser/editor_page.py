"""The editor's page as a person uses it, for tests in a browser."""

import re

from playwright.sync_api import Locator, Page, expect

from studio.models import Draft, DraftCopy
from tests.browser.patience import eventually
from tests.browser.readiness import READY, press

SLUG = "research-team"
EDIT = f"/prompts/{SLUG}/edit/"
AFTER_THE_CURSOR = """() => {
  const cursor = getSelection(), rest = document.createRange();
  rest.selectNodeContents(document.activeElement);
  rest.setStart(cursor.focusNode, cursor.focusOffset);
  return rest.toString();
}"""
FIRST_PLACE = f"{EDIT}?context=round-5-first&round=2"


def forget_drafts() -> None:
    """Every test starts from the newest version."""
    Draft.objects.all().delete()
    DraftCopy.objects.all().delete()


class EditorPage:
    """One tab with the editor open."""

    def __init__(self, page: Page, address: str = FIRST_PLACE) -> None:
        self.page = page
        page.goto(address)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """The scripts have taken the textareas over, and answer."""
        expect(self.page.locator(f"{READY} form[data-ready]")).to_be_attached()

    @property
    def content(self) -> Locator:
        return self.page.locator(".cm-content:visible")

    @property
    def prompt(self) -> Locator:
        return self.page.locator("#preview .prompt")

    @property
    def problems(self) -> Locator:
        """Errors above the prompt, and the list below the editor."""
        return self.page.locator("li.finding")

    @property
    def errors(self) -> Locator:
        return self.page.locator("li.finding.error")

    def open_drawer(self) -> None:
        """What a cache can keep, and the budget."""
        self.page.locator(".drawer > summary").click()

    @property
    def state(self) -> Locator:
        return self.page.locator("output[data-state]")

    @property
    def suggestions(self) -> Locator:
        return self.page.get_by_role("listbox", name="Suggestions").get_by_role("option")

    def text(self, field: str = "team_user_prompt") -> str:
        """What the form would send."""
        return self.page.locator(f"textarea[name={field}]").input_value()

    def expect_text(self, text: str, field: str = "team_user_prompt") -> None:
        """The form would send this."""
        expect(self.page.locator(f"textarea[name={field}]")).to_have_value(text)

    def stored(self) -> str | None:
        """The team's template as the server has it, if it has a draft."""
        texts = Draft.objects.filter(prompt_set__slug=SLUG).values_list("team_user_prompt", flat=True)
        return texts.first()

    def press(self, *keys: str) -> None:
        press(self.page, *keys)

    def write(self, text: str) -> None:
        """Put a text in the place of all there is."""
        self.content.click()
        self.press("Control+a", "Delete")
        if text:
            self.page.keyboard.insert_text(text)

    def type_at_end(self, text: str) -> None:
        self.content.click()
        eventually(self.page, self._press_end, True)
        self.page.keyboard.type(text)

    def _press_end(self) -> bool:
        """Whether the cursor is there: just after it got the focus CodeMirror may not have moved it yet."""
        self.press("Control+End")
        after: str = self.page.evaluate(AFTER_THE_CURSOR)
        return after == ""

    def expect_kept(self) -> None:
        """All that was typed is on the server."""
        expect(self.state).to_have_attribute("data-is", re.compile("^(saved|clean)$"))

    def expect_kept_text(self, text: str) -> None:
        """The server has this very text, or gets it in a moment."""
        eventually(self.page, self.stored, text)

    def save(self, message: str) -> None:
        self.page.get_by_label("Message").fill(message)
        self.press("Control+s")
