"""The sources of the project as pages, in colours: Pygments knows the languages."""

import html
import posixpath
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

# What is not shown: hidden files, what was made, and at the root what Bazel and docs/site/build leave there.
HIDDEN = re.compile(r"\.|__pycache__$")
MADE = re.compile(r"bazel-|api$|site$|user\.bazelrc$")
LARGEST = 200_000  # bytes; what is larger is data
BLOCK = HtmlFormatter(cssclass="code", wrapcode=True)


def colours():
    """The style sheet of what is coloured, for light and dark screens."""
    def rules(style):
        return HtmlFormatter(style=style).get_style_defs(".code").split("\n")
    light = [rule for rule in rules("default") if rule.startswith(".code .")]
    dark = [rule for rule in rules("github-dark") if rule.startswith(".code .")]
    return "\n".join(light + ["@media (prefers-color-scheme: dark) {"] + dark + ["}", ""])


def colour_block(code, language):
    """A block of a page; of no known language, without colours."""
    try:
        lexer = get_lexer_by_name({"": "text", "sh": "bash"}.get(language, language))
    except ClassNotFound:
        lexer = TextLexer()
    # The renderer takes what begins with <pre as it is.
    made = pygments.highlight(code, lexer, BLOCK).strip()
    return f'<pre class="code">{re.sub("^.*?<pre>|</pre>.*$", "", made, flags=re.DOTALL)}</pre>'


def colour_file(project, plain, path):
    """The page of a source, or None where it is no text."""
    try:
        text = (project / path).read_text() if (project / path).stat().st_size <= LARGEST else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        return None
    lexer = TextLexer()
    if not plain:
        try:
            name = "x.py" if path.endswith(("BUILD", ".bzl", ".bazel")) else posixpath.basename(path)
            lexer = get_lexer_for_filename(name)
        except ClassNotFound:
            if text.startswith("#!") and "sh" in text.split("\n")[0]:
                lexer = get_lexer_by_name("bash")
    if isinstance(lexer, TextLexer):
        return f'<pre class="code">{html.escape(text)}</pre>'
    return pygments.highlight(text, lexer, BLOCK)


def walk(project):
    """(folder, its folders, its files) of the project, from the root down, without what was made."""
    waiting = ["."]
    while waiting:
        folder = waiting.pop()
        found = [entry for entry in sorted((project / folder).iterdir()) if not HIDDEN.match(entry.name)
                 and not (folder == "." and MADE.match(entry.name))]
        folders = [entry.name for entry in found if entry.is_dir()]
        yield folder, folders, [entry.name for entry in found if entry.is_file()]
        waiting += [posixpath.normpath(f"{folder}/{name}") for name in folders]


def says(project, folder):
    """The comment at the beginning of a folder's BUILD file: what is in it."""
    file = project / folder / "BUILD"
    lines = file.read_text().split("\n") if file.is_file() else []
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    return " ".join(line.lstrip("# ") for line in lines[:end])


def listing(site, folder, folders, files):
    """The page of a folder."""
    here = posixpath.dirname(site.place(folder))
    items = [(name + "/", name, says(site.project, f"{folder}/{name}")) for name in folders]
    items += [(name, name, "") for name in files]
    rows = []
    for shown, name, about in items:
        href = posixpath.relpath(site.place(posixpath.normpath(f"{folder}/{name}")), here)
        rows.append(f'<li><a href="{href}">{html.escape(shown)}</a> {html.escape(about)}</li>')
    return f"<p>{html.escape(says(site.project, folder))}</p><ul>{''.join(rows)}</ul>"


def above(site, path):
    """The way to a source, each folder of it a link."""
    here = posixpath.dirname(site.place(path))
    parts, out = path.split("/"), []
    for number, part in enumerate(parts[:-1], 1):
        there = posixpath.relpath(site.place("/".join(parts[:number])), here)
        out.append(f'<a href="{there}">{html.escape(part)}</a>/')
    return f"<h1>{''.join(out)}{html.escape(parts[-1])}</h1>"


def reference(site, path):
    """A link to a header's page of the reference, if it has one: docs/Doxyfile lists the headers."""
    if path not in site.public:
        return ""
    parts = [part.replace("_", "__").replace(".", "_8") for part in path.split("/")]
    for count in range(len(parts), 0, -1):
        there = "api/html/" + "_2".join(parts[-count:]) + ".html"
        if (site.output / there).exists():
            href = posixpath.relpath(there, posixpath.dirname(site.place(path)))
            return f'<p><a href="{href}">In the reference</a></p>'
    return ""


def write(site, plain):
    """Writes a page for each folder and each text of the project."""
    folders = list(walk(site.project))
    paths = [posixpath.normpath(f"{folder}/{name}") for folder, _, files in folders for name in files]
    paths = [path for path in paths if site.place(path).startswith("source/")]
    with ProcessPoolExecutor() as pool:
        bodies = dict(zip(paths, pool.map(partial(colour_file, site.project, plain), paths, chunksize=16)))
    for path, body in bodies.items():
        body = body or "<p>Not a text, or a large one.</p>"
        site.write(site.place(path), path, above(site, path) + reference(site, path) + body)
    for folder, inner, files in folders:
        title = "Sources" if folder == "." else folder
        heading = above(site, folder) if folder != "." else "<h1>Sources</h1>"
        site.write(site.place(folder), title, heading + listing(site, folder, inner, files))
