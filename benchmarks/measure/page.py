"""The page: one file that needs no other."""

import base64
import html

import plot
from figures import LIMIT, OURS

STYLE = '''
body { font: 15px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 0.15em 0.8em; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
.ahead { color: #a00000; font-weight: bold; } .unsteady { color: #888; }
svg { max-width: 100%; height: auto; } pre { overflow: auto; max-height: 30em; background: #f6f6f6; }
'''


def number(value):
    if value is None:
        return '&ndash;'
    return f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'


def _cell(figures, question, case, who):
    text = number(figures.value(question, case, who))
    if figures.unsteady(question, case, who):
        return f'<td class="unsteady" title="the rounds differed">{text} ~</td>'
    return f'<td>{text}</td>'


def _ratio(ratio):
    if ratio is None:
        return '<td>&ndash;</td>'
    return f'<td{" class=ahead" if ratio < 0.97 else ""}>{ratio:.2f}</td>'


def table(figures, question):
    about, who = figures.questions[question], figures.who(question)
    has_limit, has_peer = LIMIT in who, bool(figures.peers(question))
    heads = ['bytes' if about.x == 'bytes' else ''] + [f'{name}, {about.unit}' for name in who]
    heads += ['against by hand'] * has_limit + ['against the best peer'] * has_peer
    lines = ['<table><tr>' + ''.join(f'<th>{html.escape(head)}</th>' for head in heads) + '</tr>']
    for case in figures.cases(question):
        cells = [f'<td>{html.escape(case)}</td>']
        cells += [_cell(figures, question, case, name) for name in who]
        if has_limit:
            limit = figures.value(question, case, LIMIT)
            cells.append(_ratio(figures.times_as_good(question, case, limit)))
        if has_peer:
            peer = figures.best_peer(question, case)
            cells.append(_ratio(figures.times_as_good(question, case, peer and peer[1])))
        lines.append('<tr>' + ''.join(cells) + '</tr>')
    return '\n'.join(lines + ['</table>'])


def behind(figures):
    places = figures.behind()
    if not any(figures.peers(question) for question in figures.questions):
        return '<p>No other library was found on this machine.</p>'
    if not places:
        return '<p>Nowhere by more than 3 %.</p>'
    rows = ''
    for ratio, question, case, peer in places:
        about = figures.questions[question]
        what = f'{int(case):,} bytes' if about.x == 'bytes' else case
        rows += (f'<tr><td>{html.escape(about.title)}</td><td>{html.escape(what)}</td>'
                 f'<td>{html.escape(peer)}</td><td class="ahead">{ratio:.2f}</td></tr>')
    return f'<table><tr><th></th><th></th><th>who</th><th>ours against it</th></tr>{rows}</table>'


def balance(figures):
    """In how many places who is ahead, of those where another does the same."""
    ratios = figures.ratios()
    if not ratios:
        return ''
    ahead = sum(ratio > 1.03 for ratio in ratios)
    behind = sum(ratio < 0.97 for ratio in ratios)
    return (f'<p>Of {len(ratios)} figures that another has as well, ours is ahead of the best of them in '
            f'{ahead}, level in {len(ratios) - ahead - behind} (within 3 %), and behind in {behind}, '
            'which are these. "Ours against it" is by how much ours is better: 0.50 is half as good.</p>')


def page(figures, facts, doubts, remarks, method):
    """`facts`: (name, text) about the machine; `doubts`, `remarks`: sentences; `method`: paragraphs."""
    parts = [f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{OURS} beside others'
             f'</title><style>{STYLE}</style></head><body>', f'<h1>{OURS} beside others</h1>',
             *(f'<p class="ahead">{html.escape(text)}</p>' for text in doubts),
             '<h2>Where another is ahead</h2>', balance(figures), behind(figures),
             '<h2>The machine</h2><table>']
    parts += [f'<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>' for name, text in facts]
    parts += ['</table>', '<h2>How it was measured</h2>']
    parts += [f'<p>{html.escape(text)}</p>' for text in method]
    if remarks:
        parts += ['<ul>'] + [f'<li>{html.escape(text)}</li>' for text in remarks] + ['</ul>']
    for question in figures.questions.values():
        if not figures.cases(question.id):
            continue
        parts += [f'<h2 id="{question.id}">{html.escape(question.title)}</h2>',
                  f'<p>{html.escape(question.text)}</p>', plot.svg(figures, question.id),
                  table(figures, question.id)]
    raw = figures.csv()
    link = base64.b64encode(raw.encode()).decode()
    parts += ['<h2>All figures</h2>',
              f'<p><a download="figures.csv" href="data:text/csv;base64,{link}">as a file</a></p>',
              f'<details><summary>every round</summary><pre id="csv">{html.escape(raw)}</pre></details>',
              '</body></html>']
    return '\n'.join(parts) + '\n'
