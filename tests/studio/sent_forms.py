"""Forms of a page as a browser would send them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.test import Client


@dataclass
class PageForm:
    """A form with what its fields hold."""

    action: str
    data: dict[str, Any] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page, self.forms, self._by_id = page, [], {}  # type: ignore[var-annotated]
        self._select = self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            sent = has.get("method") == "post"
            self.forms.append(PageForm(urljoin(self.page, has.get("action", "")) if sent else ""))
            if "id" in has:
                self._by_id[has["id"]] = self.forms[-1]
        form = self._by_id.get(has.get("form", "")) or (self.forms[-1] if self.forms else None)
        if form is None or "disabled" in has:
            return
        name = has.get("name", "")
        if tag == "input" and has.get("type") in ("checkbox", "radio"):
            if "checked" in has:
                form.data[name] = has.get("value", "on")
        elif tag == "input" and name:
            form.data[name] = has.get("value", "")
        elif tag == "textarea":
            self._area = name
            form.data[name] = ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in has or self._select not in form.data):
            form.data[self._select] = has.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1].data[self._area] += data


def send_form(client: Client, page: str, action: str, **changes: Any) -> Any:
    """Open a page, fill its form of that address and send it."""
    reader = _Reader(page)
    reader.feed(client.get(page).content.decode())
    form = next(form for form in reader.forms if urlsplit(form.action).path == action)
    return client.post(form.action, form.data | changes)
