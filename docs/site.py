# cudaccl - the documentation as a site
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks of mkdocs, see mkdocs.yml. Links to sources, which the site does not have, become plain text;
the page about security is SECURITY.md."""

import os
import pathlib
import posixpath
import re
import sys
import tempfile

from mkdocs.exceptions import Abort
from pygments.formatters import HtmlFormatter
from mkdocs.structure.files import File

sys.path.insert(0, os.path.dirname(__file__))
import reference  # noqa: E402

made = tempfile.TemporaryDirectory()
ROOT = pathlib.Path(__file__).resolve().parents[1]


def security():
    """SECURITY.md, with links as seen from here."""
    return re.sub(r"\]\((?!http)", "](../", (ROOT / "SECURITY.md").read_text("utf-8")).replace("](../docs/", "](")


def on_files(files, config):
    """Adds the references, which are made from sources, and the files that programs read."""
    with open(os.path.join(config["docs_dir"], "json.md"), encoding="utf-8") as file:
        schema = re.search(r"^```json\n(\{\n  \"\$schema\".*?)^```", file.read(), re.S | re.M).group(1)
    texts = {"http.md": reference.http(), "python-reference.md": reference.python(), "gstccl.md": reference.gstccl(),
             "security.md": security(),
             "openapi.json": reference.OPENAPI.read_text("utf-8"), "json-schema.json": schema}
    # Pygments of Debian colours code when the site is built: pages need no script for it.
    texts["code.css"] = HtmlFormatter(style="default").get_style_defs(".codehilite")
    for name, text in texts.items():
        with open(os.path.join(made.name, name), "w", encoding="utf-8") as file:
            file.write(text)
        files.append(File(name, made.name, config["site_dir"], False))
    return files


def on_page_markdown(markdown, page, **_):
    folder = posixpath.dirname(page.file.src_path)

    def link(match):
        path = posixpath.normpath(posixpath.join(folder, match.group(2)))
        return match.group(1) if path.startswith("..") else match.group(0)

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)#:]+)(?:#[^)]*)?\)", link, markdown)


def on_post_build(config):
    """Removes files that are not pages, and fails if a link has no target."""
    site = config["site_dir"]
    for name in ("elements.py", "engine.py", "gallery.py", "reference.py", "site.py", "site.sh", "meson.build", "gstccl.toml.in"):
        os.remove(os.path.join(site, name))

    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html") and name not in ("404.html", "search.html"):
                path = os.path.relpath(os.path.join(folder, name), site)
                with open(os.path.join(site, path), encoding="utf-8") as file:
                    text = file.read()
                pages[path] = (set(re.findall(r'\bid="([^"]*)"', text)), re.findall(r'<a [^>]*href="([^"]*)"', text))
    broken = []
    for path, (_, links) in pages.items():
        for link in links:
            target, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if anchor and target in pages and anchor not in pages[target][0]:
                broken.append(f"{path}: no such place: {link}")
    if broken:
        raise Abort("\n".join(broken))
