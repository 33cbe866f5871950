"""What the form of an export page sends when nobody changes it."""

from html.parser import HTMLParser


class _Form(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.select = ""
        self.sent: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.inside = values.get("id") == "export-form"
        elif tag == "select":
            self.select = values["name"] or ""
        elif tag == "option" and self.inside:
            if "selected" in values or self.select not in self.sent:
                self.sent[self.select] = [values["value"] or ""]
        elif tag == "input" and (self.inside or values.get("form") == "export-form"):
            is_sent = values.get("type") != "checkbox" or "checked" in values
            if is_sent:
                self.sent.setdefault(values["name"] or "", []).append(values["value"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = False


def sent_by(page: str) -> dict[str, list[str]]:
    """Hidden values, chosen options and ticked boxes, as a browser would send them."""
    form = _Form()
    form.feed(page)
    form.sent.pop("csrfmiddlewaretoken", None)
    return form.sent
