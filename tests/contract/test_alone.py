"""The builder without the studio: what the other tests here rest on."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["django", "django.conf", "studio", "studio.models"])
def test_django_and_the_studio_cannot_be_imported_here(name: str) -> None:
    with pytest.raises(ImportError):
        import_module(name)


def test_these_files_use_the_public_names_alone() -> None:
    imported = {
        node.module
        for path in HERE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("builder")
    }
    assert imported == {"builder", "builder.__main__"}


def test_every_public_name_loads_where_there_is_no_django() -> None:
    code = (
        "import sys; sys.modules.update(django=None, studio=None)\n"
        "import builder, builder.__main__\n"
        "for name in builder.__all__: getattr(builder, name)\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('django', 'studio', 'waitress')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE.parents[1], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['django', 'studio']\n", "")
