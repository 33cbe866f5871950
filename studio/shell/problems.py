"""A request that cannot be done, said to the person who made it."""

from django.utils.translation import gettext as _


class Problem(Exception):
    """Ends the request with a page that says what is wrong and what to do next."""

    def __init__(self, status: int, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.status, self.what, self.advice = status, what, advice


def title(status: int) -> str:
    """What a status means, in a few words."""
    titles = {
        400: _("That request could not be read"),
        403: _("Not allowed"),
        404: _("There is nothing here"),
        405: _("Not that way"),
        409: _("Somebody was faster"),
        410: _("This link is used up"),
        413: _("Too large"),
        429: _("Too many attempts"),
        503: _("Not available right now"),
    }
    return titles.get(status, _("Something went wrong here"))


def advice(status: int) -> str:
    """What to do about it where nobody knows better."""
    advices = {
        400: _("Check the address or the form, and try again."),
        403: _("Sign in with an account that may see this, or ask whoever runs this studio."),
        404: _("Check the address, or start from one of the lists on the left."),
        405: _("Go back and use the button or link on the page."),
        409: _("Your text is safe. Look at what changed, then decide."),
        410: _("Run `manage.py link` where the studio is installed; it prints a fresh one."),
        413: _("Shorten the text or split the file, and send it again."),
        429: _("Wait a quarter of an hour, or sign in with a link from `manage.py link`."),
        503: _("Try again in a moment; nothing you wrote was lost."),
    }
    return advices.get(
        status, _("This is our mistake, not yours. Try again; the server's log has the details.")
    )
