"""docs/beside-others.html: all figures on one page that needs no other file."""

import html

import plot
import text
from figures import OURS

STYLE = '''
body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto; }
th, td { padding: 0.15em 0.8em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.doubt { color: #a00000; font-weight: bold; }
svg { max-width: 60em; height: auto; } pre { overflow: auto; max-height: 30em; background: #f6f6f6; }
'''

METHOD = [
    'All run in turn: in each round each chapter once, and in it all contenders one after the other. A figure is the '
    'best of its rounds, which are as many as the time allowed; the percentage behind it is by how much the worst '
    'round was worse, and "of 2" that it has fewer rounds than most. Who has a setting that matters is measured with '
    'it and without; the name of the best stands behind the figure.',
    '"Against" is by how much ours is better, for times and rates alike: 2.00 is twice as good, below 1.00 the other '
    'is ahead. Each round is compared with itself, and the median of the rounds counts. So it need not be the '
    'quotient of the two best figures: those may be of rounds between which the cores were moved.',
    '"Slow" is what was ended because it took too long, "lost" what ended without a figure, "not run" what was left '
    'out, for a reason that is given: none of them is compared.',
    '"By hand" is the fastest that is known to do the same without a library: stores to a shared cache line or ring, '
    'or memcpy; between nodes the same messages by libfabric alone, each sent by itself, as a simple program does it. '
    'Where ours is many times as fast, it sends many with one system call.',
]


def _table(lines):
    if not lines:
        return ''
    kinds = ['th'] + ['td'] * (len(lines) - 1)
    rows = (''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells) for kind, cells in zip(kinds, lines))
    return '<table>' + '\n'.join(f'<tr>{row}</tr>' for row in rows) + '</table>'


def _paragraphs(lines, style=''):
    return [f'<p{style}>{html.escape(line)}</p>' for line in lines]


def page(source):
    figures = source.figures
    parts = [f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{OURS} beside others</title>'
             f'<style>{STYLE}</style></head><body>', f'<h1>{OURS} beside others</h1>',
             *_paragraphs(source.named('doubt'), ' class="doubt"'),
             '<h2>Where another is ahead</h2>', *_paragraphs([text.balance(figures)]), _table(text.losses(figures)),
             '<h2>The machine</h2>',
             _table([['', ''], *([name, words] for name, words in source.facts.items() if not name.startswith(
                 ('doubt', 'remark')))]),
             '<h2>How it was measured</h2>', *_paragraphs(METHOD), '<ul>',
             *(f'<li>{html.escape(line)}</li>' for line in [*text.not_ok(figures), *source.named('remark')]), '</ul>']
    for question in figures.questions.values():
        if figures.cases(question.id):
            parts += [f'<h2 id="{question.id}">{html.escape(question.title)}</h2>', *_paragraphs([question.text]),
                      plot.plot(source, question.id), _table(text.form(figures, question.id))]
    raw = source.text()
    parts.append(f'<h2>All figures</h2><details><summary>figures.csv</summary><pre>{html.escape(raw)}</pre></details>'
                 '</body></html>')
    return '\n'.join(parts) + '\n'
