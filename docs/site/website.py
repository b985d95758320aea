#!/usr/bin/python3
"""The documentation as HTML: website.py [--plain] PROJECT DIRECTORY

README.md becomes index.html, and docs/x.md docs/x.html. A link to any other file or folder of the
project leads to its copy in source/; pictures and pages of HTML are copied. The navigation is docs/index.md: its headings,
and the first link of each item. --plain leaves the sources without colours, which takes most of the time.
The reference is linked if docs/site/build has put it there before.
"""

import html
import posixpath
import shutil
import sys
from pathlib import Path

import page
import sources


class Site:
    """Where everything is: paths are relative, to the root of the project or of the site."""

    def __init__(self, project, output):
        self.project, self.output = Path(project), Path(output)
        self.pages = ["README.md"] + sorted(f"docs/{found.name}" for found in self.project.glob("docs/*.md"))
        self.copied = set()  # pictures, and what is HTML already
        self.topics = []
        doxyfile = self.project / "docs/Doxyfile"
        self.public = set(doxyfile.read_text().split()) if doxyfile.exists() else set()
        self.template = (Path(__file__).parent / "page.html").read_text()

    def place(self, path):
        """The place in the site of a file or folder of the project."""
        if path in self.pages:
            return "index.html" if path == "README.md" else path.removesuffix("md") + "html"
        is_page = posixpath.dirname(path) == "docs" and path.endswith(".html")
        if is_page or path.endswith((".svg", ".png")):
            self.copied.add(path)
            return path
        if (self.project / path).is_dir():
            return posixpath.normpath(f"source/{path}/index.html")
        return f"source/{path}.html"

    def href(self, path, link):
        """What a link in the page `path` becomes; one that begins with / is from the root of the project."""
        if ":" in link or link.startswith("#"):
            return link
        file, mark, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)).lstrip("/")
        here = posixpath.dirname(self.place(path)) or "."
        there = self.place("docs/index.md" if target == "docs" else target)
        return posixpath.relpath(there, here) + mark + anchor

    def reference(self):
        """Items of the navigation for the reference of the headers."""
        there = "api/html/index.html"
        return [("API reference", there)] if (self.output / there).exists() else []

    def write(self, place, title, body, contents=""):
        """Writes a page of the site; `contents` is a list of what is in it, for the navigation."""
        root = posixpath.relpath(".", posixpath.dirname(place) or ".")
        fields = {"title": html.escape(title), "root": root, "body": body,
                  "navigation": self.navigation(place, root, contents)}
        file = self.output / place
        file.parent.mkdir(parents=True, exist_ok=True)
        before, *rest = self.template.split("{{")
        for part in rest:
            name, after = part.split("}}", 1)
            before += fields[name] + after
        file.write_text(before)

    def navigation(self, place, root, contents):
        """All topics, with the present page marked."""
        out = [f'<p><a href="{root}/docs/index.html">All pages, in a sentence each</a></p>']
        for heading, items in self.topics:
            out.append(f"<h2>{html.escape(heading)}</h2>\n<ul>")
            for title, there in items:
                mark, more = (' aria-current="page"', contents) if there == place else ("", "")
                out.append(f'<li><a href="{root}/{there}"{mark}>{html.escape(title)}</a>{more}</li>')
            out.append("</ul>")
        return "\n".join(out)

    def build(self, plain=False):
        read = {path: page.Page(self, path) for path in self.pages}
        self.topics = read["docs/index.md"].topics()
        self.topics[-1][1].extend(self.reference() + [("Sources", self.place("."))])
        for path, one in read.items():
            self.write(self.place(path), one.title, one.html, one.contents())
        sources.write(self, plain)
        for path in self.copied:
            (self.output / path).parent.mkdir(parents=True, exist_ok=True)
            if (self.project / path).is_file():
                shutil.copyfile(self.project / path, self.output / path)
        style = (Path(__file__).parent / "style.css").read_text()
        (self.output / "style.css").write_text(style + sources.colours())


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--plain"]
    if len(arguments) != 2:
        sys.exit("usage: website.py [--plain] PROJECT DIRECTORY")
    Site(*arguments).build(plain="--plain" in sys.argv)
