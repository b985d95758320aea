"""All files that are made of docs/figures.csv, and of the files of chapters that are measured alone."""

import pathlib

import page
import plot
import regions
import source

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent
FIGURES = 'docs/figures.csv'


def alone(root, chapter):
    return root / f'docs/{chapter}.csv'


def made(root):
    """The text of each file, by its path, as the figures give it."""
    figures = source.read((root / FIGURES).read_text())
    others = {chapter: source.read(alone(root, chapter).read_text())
              for chapter in regions.ALONE if alone(root, chapter).exists()}
    files = {root / 'docs/beside-others.html': page.page(figures)}
    files.update({root / 'docs/pictures' / name: picture for name, picture in plot.pictures(figures).items()})
    for path in [root / 'README.md', *sorted((root / 'docs').glob('*.md'))]:
        text = path.read_text()
        if regions.BEGIN.search(text):
            files[path] = regions.rewritten(text, figures, others)
    return files


def stale(root):
    """Those that differ."""
    return [path for path, text in made(root).items() if not path.exists() or path.read_text() != text]


def write(root):
    files = made(root)
    for path in stale(root):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
        print(f'written: {path}')
