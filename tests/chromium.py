"""The browser that browser tests and screenshots use: Debian's Chromium, or another one by a usual name."""

import shutil

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # nothing from outside
]
HOW_TO_GET_IT = "install Chromium (on Debian «apt-get install chromium») and run the tests again"


def find_chromium() -> str | None:
    """The program's path, where there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None
