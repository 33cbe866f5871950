"""The studio's settings for tests: none of the developer's own data or environment, and fast passwords."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

for _name in [name for name in os.environ if name.startswith(("STUDIO_", "MIXSEEK_"))]:
    if _name != "STUDIO_REQUIRE_BROWSER":
        del os.environ[_name]
# A folder for each run, so that two runs at once do not meet in one database.
_data = tempfile.mkdtemp(prefix="prompt-studio-test-")
os.environ["STUDIO_DATA"] = _data
atexit.register(shutil.rmtree, _data, ignore_errors=True)

from studio.settings import *  # noqa: E402, F403
from studio.settings import DATABASES, STUDIO_DATA  # noqa: E402

# Every test has a folder of its own below this one.
STUDIO_WORKSPACE_ROOTS = (Path(tempfile.gettempdir()),)
# Otherwise each of Django's test clients looks at all static files anew.
WHITENOISE_AUTOREFRESH = True
# A busy machine must not change what a page shows.
STUDIO_COPY_PATIENCE = 60.0
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, as in real life: in memory there is no WAL, and a live server's threads share one connection.
    DATABASES["default"]["TEST"] = {"NAME": STUDIO_DATA / "test.sqlite3"}
else:
    # The process id keeps two runs against one server apart.
    DATABASES["default"]["TEST"] = {"NAME": f"test_studio_{os.getpid()}"}
