"""Browser profiles that tests use one after the other: in Chromium a new one costs half a second of work."""

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.patience import PATIENCE
from tests.browser.readiness import act_when_ready
from tests.browser.watch import Watch


class Profiles:
    """One profile with scripts and one without; each is as good as new when a test gets it."""

    def __init__(self, browser: Browser, address: str, watch: Watch) -> None:
        self._browser = browser
        self._address = address
        self._watch = watch
        self._kept: dict[bool, BrowserContext] = {}

    def use(self, java_script_enabled: bool = True) -> Page:
        """An empty page of a profile that remembers nothing."""
        context = self._kept.get(java_script_enabled) or self._make(java_script_enabled)
        page = context.new_page()
        if not page.evaluate("String(Date).includes('native code')"):
            # A test stopped the clock, which Playwright cannot take back.
            self._kept.pop(java_script_enabled).close()
            return self.use(java_script_enabled)
        session = context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": self._address, "storageTypes": "local_storage"})
        session.detach()
        return page

    def leave(self, context: BrowserContext) -> None:
        """Close its pages but the first, and forget who used it."""
        self._watch.end()
        # An editor sends its draft when it is left: signed out, that does not reach the next test's.
        context.clear_cookies()
        for page in context.pages[1:]:
            page.close()
        context.unroute_all()
        context.clear_permissions()

    def close(self) -> None:
        for context in self._kept.values():
            context.close()

    def _make(self, java_script_enabled: bool) -> BrowserContext:
        context = self._browser.new_context(
            base_url=self._address,
            java_script_enabled=java_script_enabled,
            viewport={"width": 1280, "height": 800},
            locale="en-US",
            color_scheme="light",
            reduced_motion="reduce",  # a colour is looked at when it is there, not on its way
        )
        context.set_default_timeout(PATIENCE)
        if java_script_enabled:
            context.on("page", act_when_ready)
        self._watch.attach(context)
        # Stays: with the last page of a profile Chromium closes more than that page.
        context.new_page()
        self._kept[java_script_enabled] = context
        return context
