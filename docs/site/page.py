"""A page: Markdown as CommonMark and its tables, with the anchors that GitHub gives to headings."""

import html
import re

from markdown_it import MarkdownIt

import sources


FILE = re.compile(r"\w[\w./-]*/[\w.-]+")


def words(inline):
    """The text of a heading or link without its markup."""
    return "".join(token.content for token in inline.children if token.type in ("text", "code_inline"))


def anchor(text, taken):
    """GitHub's anchor of a heading; a second one of the same text is numbered."""
    made = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    number = taken.setdefault(made, 0)
    taken[made] += 1
    return f"{made}-{number}" if number else made


def highlight(code, language, _):
    return sources.colour_block(code, language)


class Page:
    """What is read of one file. `html` is the body, with links as they are in the site."""

    def __init__(self, site, path):
        self.site, self.path = site, path
        markdown = MarkdownIt("commonmark", {"highlight": highlight}).enable("table")
        text = (site.project / path).read_text()
        self.tokens = markdown.parse(text)
        self.headings = []  # (level, text, anchor)
        self.links = []  # (line, href) as they are in the file, pictures too
        self.pictures = []  # (line, src, alternative text)
        self.find_headings()
        for block in self.tokens:
            for token in block.children or []:
                self.find_link(token, (block.map or [0])[0] + 1)
            self.link_files(block.children or [])
        self.title = self.headings[0][1] if self.headings else path
        self.html = wrap_tables(markdown.renderer.render(self.tokens, markdown.options, {}))

    def find_headings(self):
        taken = {}
        for opening, inline in zip(self.tokens, self.tokens[1:]):
            if opening.type == "heading_open":
                text = words(inline)
                name = anchor(text, taken)
                opening.attrSet("id", name)
                self.headings.append((int(opening.tag[1:]), text, name))

    def find_link(self, token, line):
        """Notes a link, and makes it one of the site."""
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None:
            return
        href = token.attrGet(name)
        self.links.append((line, href))
        if name == "src":
            self.pictures.append((line, href, token.content))
        token.attrSet(name, self.site.href(self.path, href))

    def link_files(self, tokens):
        """Makes a link of code that is the name of a file of the project, unless it is part of one."""
        inside = False
        for token in tokens:
            inside = token.type == "link_open" or inside and token.type != "link_close"
            if token.type == "code_inline" and FILE.fullmatch(token.content) and not inside:
                if (self.site.project / token.content).is_file():
                    href = self.site.href(self.path, "/" + token.content)
                    token.type, token.content = "html_inline", f'<a href="{href}"><code>{token.content}</code></a>'

    def contents(self):
        """The sections, as a list."""
        items = [f'<li><a href="#{name}">{html.escape(text)}</a></li>'
                 for level, text, name in self.headings if level == 2]
        return f"<ul>{''.join(items)}</ul>" if len(items) > 1 else ""

    def topics(self):
        """Of the index: (heading, [(title, place)]), by the first link of each item."""
        found, wanted = [], False
        for number, token in enumerate(self.tokens):
            if token.type == "heading_open" and token.tag == "h2":
                found.append((words(self.tokens[number + 1]), []))
            wanted = wanted or token.type == "list_item_open"
            children = token.children or []
            first = next((i for i, child in enumerate(children) if child.type == "link_open"), None)
            if wanted and found and first is not None:
                there = children[first].attrGet("href").removeprefix("../")
                place = there if there == "index.html" else f"docs/{there}"
                found[-1][1].append((children[first + 1].content, place))
                wanted = False
        return found


def wrap_tables(body):
    """Wide tables scroll by themselves, not with the page."""
    body = body.replace("<table>", '<div class="wide"><table>')
    return body.replace("</table>", "</table></div>")
