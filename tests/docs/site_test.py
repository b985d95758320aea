#!/usr/bin/python3
"""Builds the site of the documentation by MkDocs and follows every internal link: site_test.py README

Pages may link to any file of the project, so the site is built from where README really lies, and not from
the files that the test was given.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

PROJECT = Path(sys.argv.pop(1)).resolve().parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^(?:```.*?^```|(?: {4}|\t).*?$)|`[^`\n]+`", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]+)\)")


class Page(HTMLParser):
    """The links of a page of the site, its anchors, and the text outside of code."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.text, self.code = set(), set(), "", 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        self.links |= {attributes[name] for name in ("href", "src") if attributes.get(name)}
        self.code += tag in ("code", "script", "style")

    def handle_endtag(self, tag):
        self.code -= tag in ("code", "script", "style")

    def handle_data(self, data):
        self.text += "" if self.code else data


def pages_of(site):
    return {file.resolve(): Page(file.read_text()) for file in site.rglob("*.html")
            if file.relative_to(site).parts[0] not in ("source", "api", "404.html")}  # those are not pages of ours


def faults(pages):
    """A sentence for each link that leads to no file or to no place in it."""
    for file, page in pages.items():
        for link in sorted(page.links):
            path, _, anchor = unquote(link).partition("#")
            target = (file.parent / path).resolve() if path else file
            if ":" in link or link.startswith("//"):
                continue
            if not target.is_file():
                yield f"{file.name}: {link} is not there"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{file.name}: {link}: no such heading"


class Documentation(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = Path(cls.folder.name).resolve()
        built = subprocess.run(["/usr/bin/mkdocs", "build", "--strict", "--site-dir", cls.site,
                                "--config-file", PROJECT / "mkdocs.yml"], capture_output=True, text=True)
        cls.said = built.stderr
        if built.returncode != 0:
            raise AssertionError(f"mkdocs build --strict fails:\n{cls.said}")
        cls.pages = pages_of(cls.site)
        cls.markdown = {file: CODE.sub("", file.read_text())
                        for file in [PROJECT / "README.md", *PROJECT.glob("docs/*.md")]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_link_of_the_site_leads_somewhere(self):
        self.assertGreater(len(self.pages), 20)
        self.assertEqual([], list(faults(self.pages)))

    def test_every_link_of_the_markdown_leads_somewhere(self):
        """As it is read in the repository: MkDocs does not see the README, nor links to folders."""
        for file, text in self.markdown.items():
            for link in LINK.findall(text):
                path, _, anchor = link.partition("#")
                target = (file.parent / path).resolve()
                if ":" in link or not path:
                    continue
                self.assertTrue(target.exists(), f"{file.name}: {link}")
                if anchor and target.suffix == ".md" and target.parent.name == "docs":
                    self.assertIn(anchor, self.pages[self.site / f"{target.stem}.html"].anchors, f"{file.name}: {link}")

    def test_every_page_is_in_the_navigation(self):
        self.assertNotIn("not included in the \"nav\"", self.said)

    def test_the_search_needs_no_server(self):
        """Pages in a folder have one script with all that its worker would load."""
        script = (self.site / "search/offline.js").read_text()
        worker = json.loads(script.partition("=")[2].rstrip(" ;\n"))
        index = json.loads((self.site / "search/search_index.json").read_text())
        for part in ("lunr", "onmessage", json.dumps(json.dumps(index["docs"][0]["title"]))[1:-1]):
            self.assertIn(part, worker)
        page = (self.site / "index.html").read_text()
        self.assertLess(page.index('src="search.js"'), page.index('src="search/main.js"'))

    def test_every_picture_is_well_formed_described_and_used(self):
        shown = set()
        for file, text in self.markdown.items():
            for words, picture in PICTURE.findall(text):
                shown.add((file.parent / picture).resolve())
                self.assertTrue(words.strip(), f"{file.name}: {picture} has no alternative text")
        drawn = set(PROJECT.glob("docs/pictures/**/*.svg"))
        self.assertTrue(drawn)
        self.assertEqual(set(), drawn - shown)
        for picture in drawn:
            self.assertTrue(ElementTree.parse(picture).getroot().get("viewBox"), picture)

    def test_lists_tables_and_fences_are_rendered(self):
        """What Markdown does not understand as one of these, it takes for text."""
        for file, page in self.pages.items():
            self.assertNotRegex(page.text, r"(?m)^(\||[-*] |```)", file.name)


class Faults(unittest.TestCase):
    def faults(self, body):
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder).resolve()
            (site / "a.html").write_text('<h1 id="a">A</h1>')
            (site / "b.html").write_text(body)
            return list(faults(pages_of(site)))

    def test_good_links_are_none(self):
        self.assertEqual([], self.faults('<a id="c" href="a.html#a"/><a href="#c"/><a href="https://x.y/z"/>'))

    def test_missing_files_and_headings_are_named(self):
        self.assertEqual(["b.html: a.html#x: no such heading", "b.html: c.svg is not there"],
                         self.faults('<a href="a.html#x"/><img src="c.svg"/>'))


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs is not installed (third_party/test_packages.txt)")
        sys.exit(0)
    unittest.main()
