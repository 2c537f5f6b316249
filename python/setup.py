"""Builds the wheel with libattn_mt, from the source beside it or in the sdist, or from ATTN_MT_LIBRARY."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source" if (HERE / "source").exists() else HERE.parent
NAME = "libattn_mt.so.1"


class BuildLibrary(build_py):
    def run(self):
        super().run()
        built = os.environ.get("ATTN_MT_LIBRARY")
        if not built:
            built = SOURCE / "build-python" / NAME
            subprocess.run(["make", f"-j{os.cpu_count()}", "BUILD=build-python", f"build-python/{NAME}"],
                           cwd=SOURCE, check=True)
        package = HERE / "attn_mt" if self.editable_mode else Path(self.build_lib) / "attn_mt"
        shutil.copy(built, package / NAME)


class SourceWithLibrary(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in ("Makefile", "src", "scripts/install-deps", "scripts/help.inc"):
            target = Path(base_dir) / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (SOURCE / name).is_dir() else shutil.copy)(SOURCE / name, target)


class AnyPython(bdist_wheel):
    """The library depends on the platform, but not on the version of Python."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(
    version=re.search(r'ATTN_MT_VERSION "(.*)"', (SOURCE / "src/base/version.h").read_text()).group(1),
    cmdclass={"build_py": BuildLibrary, "sdist": SourceWithLibrary, "bdist_wheel": AnyPython},
    distclass=type("WithLibrary", (Distribution,), {"has_ext_modules": lambda self: True}),
)
