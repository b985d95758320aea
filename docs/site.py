"""The hooks of mkdocs.yml. MkDocs shows a folder of Markdown; our pages also link to sources outside of it, which
are added as text here, and so is the reference of the headers where Doxygen has made one."""

import json
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

PROJECT = Path(__file__).resolve().parent.parent
REFERENCE = PROJECT / "api/html"
SOURCE = re.compile(r"\]\((\.\./[^)#]+)")
SHOWN = {".css", ".csv", ".html", ".js", ".md", ".png", ".sh", ".svg"}
HIDDEN = {"api.sh"}
SHORT = re.compile(r"<code>(?=[^<\n]{1,24}</code>)")


class Source(File):
    """A file of the project that is copied to another place of the site."""

    def __init__(self, path, place, config):
        super().__init__(path, config["docs_dir"], config["site_dir"], use_directory_urls=False)
        self.dest_uri = self.url = place
        self.abs_dest_path = str(Path(config["site_dir"], place))

    def is_documentation_page(self):
        return False


def on_config(config):
    if (REFERENCE / "index.html").exists():
        config["nav"][-1]["Look up"].insert(0, {"Reference of the headers": "../api/html/index.html"})
    return config


def on_files(files, config):
    for file in list(files):
        ours = Path(file.abs_src_path).is_relative_to(config["docs_dir"])  # and not the theme's
        if ours and (Path(file.src_uri).suffix not in SHOWN or file.src_uri in HIDDEN):
            files.remove(file)
    for page in files.documentation_pages():
        for link in SOURCE.findall(Path(page.abs_src_path).read_text()):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.src_uri), link))
            if Path(config["docs_dir"], path).is_file() and files.get_file_from_path(path) is None:
                files.append(Source(path, f"source/{path.removeprefix('../')}.txt", config))
    for file in REFERENCE.rglob("*"):
        if file.is_file():
            name = file.relative_to(PROJECT).as_posix()
            files.append(Source(f"../{name}", name, config))
    return files


def on_page_content(html, page, config, files):
    """Options and names are not broken at a hyphen, unless they are long."""
    return SHORT.sub('<code class="short">', html)


def on_post_build(config):
    """The worker of the search and all that it loads, in one script (search.js)."""
    search = Path(config["site_dir"], "search")
    index = json.dumps((search / "search_index.json").read_text())
    parts = ["importScripts = function () {};", (search / "lunr.js").read_text(), (search / "worker.js").read_text(),
             f"function init() {{ onJSONLoaded.call({{responseText: {index}}}); }}"]
    (search / "offline.js").write_text(f"const offline_search = {json.dumps(chr(10).join(parts))};\n")
