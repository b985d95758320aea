#!/usr/bin/python3
"""Builds the site of the documentation, and follows every link: site_test.py README

Pages may link to anything in the project. So the project is looked at itself, where README really lies,
and not what the test has been given of it.
"""

import re
import sys
import tempfile
import unittest
from os.path import dirname, normpath
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

PROJECT = Path(sys.argv.pop(1)).resolve().parent
sys.path.insert(0, str(PROJECT / "docs/site"))
sys.dont_write_bytecode = True
try:
    from website import Site
except ModuleNotFoundError as missing:
    if missing.name not in ("markdown_it", "pygments"):
        raise
    print(f"skipped: {missing.name} is not installed (third_party/test_packages.txt)")
    sys.exit(0)
from page import Page


TAG = re.compile(r"<(\w+)([^>]*)>")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


def elsewhere(link):
    return ":" in link


class Built:
    """What a page of the site links to, the anchors in it, and its pictures. Text has no < or " in it."""

    def __init__(self, text):
        tags = [(tag, dict(ATTRIBUTE.findall(rest))) for tag, rest in TAG.findall(text)]
        self.anchors = {attributes["id"] for _, attributes in tags if "id" in attributes}
        self.links = {attributes[name] for _, attributes in tags for name in ("href", "src") if name in attributes}
        self.pictures = [attributes for tag, attributes in tags if tag == "img"]


def faults_of_markdown(site):
    """A sentence for each link of a page that leads nowhere, and each picture without words."""
    pages = {site.project / path: Page(site, path) for path in site.pages}
    anchors = {file: {name for _, _, name in page.headings} for file, page in pages.items()}
    for file, page in pages.items():
        for line, link in page.links:
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            if elsewhere(link):
                continue
            if not target.exists():
                yield f"{page.path}:{line}: {link} is not there"
            elif anchor and anchor not in anchors.get(target, ()):
                yield f"{page.path}:{line}: {link}: no such heading"
        yield from (f"{page.path}:{line}: {picture} has no alternative text"
                    for line, picture, text in page.pictures if not text.strip())


def faults_of_site(output):
    """The same of the pages as they were built, and pages that none but the lists of sources lead to."""
    files = {str(file.relative_to(output)) for file in output.rglob("*") if file.is_file()}
    pages = {file: Built((output / file).read_text()) for file in files if file.endswith(".html")}
    ways = {}
    for file, page in pages.items():
        ways[file] = set()
        for link in page.links:
            path, _, anchor = unquote(link).partition("#")
            target = normpath(f"{dirname(file)}/{path}" if dirname(file) else path) if path else file
            if elsewhere(link):
                continue
            if target not in files:
                yield f"{file}: {link} is not there"
            elif anchor and anchor not in pages[target].anchors:
                yield f"{file}: {link}: no such anchor"
            ways[file].add(target)
        yield from (f"{file}: {picture.get('src')} has no alternative text"
                    for picture in page.pictures if not picture.get("alt"))
    reached, waiting = set(), ["index.html"]
    while waiting:
        file = waiting.pop()
        if file not in reached and not file.startswith("source/"):
            reached.add(file)
            waiting += ways.get(file, ())
    unreached = {file for file in pages if not file.startswith("source/")} - reached
    yield from (f"{file}: no way leads here" for file in sorted(unreached))


def built(project, output):
    site = Site(project, output)
    site.build(plain=True)
    return site


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.output = Path(cls.folder.name).resolve()
        cls.site = built(PROJECT, cls.output)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_link_of_the_markdown_leads_somewhere(self):
        self.assertEqual([], list(faults_of_markdown(self.site)))

    def test_every_link_of_the_site_leads_somewhere(self):
        self.assertEqual([], list(faults_of_site(self.output)))

    def test_every_page_is_in_the_index(self):
        listed = {place for _, items in self.site.topics for _, place in items}
        self.assertEqual(set(), {self.site.place(path) for path in self.site.pages} - listed - {"docs/index.html"})

    def test_every_picture_is_well_formed_and_used(self):
        shown = {(Path(PROJECT, path).parent / picture).resolve()
                 for path in self.site.pages for _, picture, _ in Page(self.site, path).pictures}
        drawn = set(PROJECT.glob("docs/pictures/**/*.svg"))
        self.assertTrue(drawn)
        self.assertEqual(set(), drawn - shown)
        for picture in drawn:
            root = ElementTree.parse(picture).getroot()
            self.assertTrue(root.get("viewBox"), picture)

    def test_lists_and_tables_are_rendered(self):
        """CommonMark takes a list or table that it does not understand for text."""
        for path in self.site.pages:
            page = Page(self.site, path)
            for token in page.tokens:
                if token.type == "inline":
                    self.assertNotRegex(token.content, r"(?m)^\|.*\|$", f"{path}:{token.map}")


class Faults(unittest.TestCase):
    """That the checks above find what they are for, in a project of three pages."""

    def faults(self, **pages):
        index = "# I\n\n## T\n\n- [A](../README.md)\n- [B](b.md)\n"
        pages = {"README": "# A\n", "index": index, "b": "# B\n"} | pages
        with tempfile.TemporaryDirectory() as folder:
            project, output = Path(folder).resolve() / "project", Path(folder).resolve() / "site"
            (project / "docs").mkdir(parents=True)
            for name, text in pages.items():
                place = project if name == "README" else project / "docs"
                (place / f"{name}.md").write_text(text)
            site = built(project, output)
            return list(faults_of_markdown(site)), list(faults_of_site(output))

    def test_none(self):
        text = "# B\n\n## Two words\n\n[A](../README.md#a), [here](#two-words), `docs/b.md`\n"
        self.assertEqual(([], []), self.faults(b=text))

    def test_a_file_that_is_not_there(self):
        markdown, site = self.faults(b="# B\n\n[C](c.md)\n")
        self.assertEqual(["docs/b.md:3: c.md is not there"], markdown)
        self.assertEqual(["docs/b.html: ../source/docs/c.md.html is not there"], site)

    def test_an_anchor_that_is_not_there(self):
        markdown, site = self.faults(b="# B\n\n[A](../README.md#x)\n")
        self.assertEqual(["docs/b.md:3: ../README.md#x: no such heading"], markdown)
        self.assertEqual(["docs/b.html: ../index.html#x: no such anchor"], site)

    def test_a_link_in_code_is_none(self):
        self.assertEqual(([], []), self.faults(b="# B\n\n`[](int n)`\n\n    [](int n)\n"))

    def test_a_page_that_nothing_leads_to(self):
        self.assertEqual(([], ["docs/c.html: no way leads here"]), self.faults(c="# C\n"))

    def test_a_picture_without_words(self):
        markdown, site = self.faults(b="# B\n\n![](b.svg)\n")
        self.assertIn("docs/b.md:3: b.svg has no alternative text", markdown)
        self.assertIn("docs/b.html: b.svg has no alternative text", site)


if __name__ == "__main__":
    unittest.main()
