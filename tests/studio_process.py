"""A studio as people start it: a process of its own, with a data folder of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Studio:
    """`manage.py studio`, started; `link` is the one that it printed."""

    def __init__(self, data: Path, *options: str, **environ: str) -> None:
        self.data = data
        # Without DISPLAY there is no desktop, so no browser is opened.
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(data.parent), **environ}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "studio", "--data", str(data), *options],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # As from a terminal of its own: in ours, its readers would run when the tests have nothing to do.
            start_new_session=True,
        )
        assert self.process.stdout
        self.output = ""
        self.link = ""
        for line in self.process.stdout:
            self.output += line
            if found := re.search(r"https?://\S+/signin/\S+/", line):
                self.link = found[0]
            if line.startswith("Ctrl-C"):
                # What nobody reads would fill the pipe and hold the studio.
                self._reader = threading.Thread(target=self._read_on, daemon=True)
                self._reader.start()
                return
        raise AssertionError(f"the studio did not start:\n{self.output}")

    @property
    def base(self) -> str:
        return self.link.partition("/signin/")[0]

    def fresh_link(self) -> str:
        """What `manage.py link` prints while this runs."""
        command = [sys.executable, "manage.py", "link", "--data", str(self.data)]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout.strip()

    def get(self, path: str) -> tuple[int, str]:
        with urllib.request.urlopen(self.base + path, timeout=20) as answer:
            return answer.status, answer.read().decode()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        status = self.process.wait(timeout=20)
        self._reader.join(timeout=20)
        return status

    def _read_on(self) -> None:
        assert self.process.stdout
        with self.process.stdout as output:
            for line in output:
                self.output += line
