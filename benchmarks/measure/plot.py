"""Plots, as SVG: bars of one case, lines by size, and by how much ours is better."""

import math
from xml.sax.saxutils import escape

from figures import LEVEL, LIMIT, OURS
from text import amount, case_name

COLOURS = {OURS: '#c00000', LIMIT: '#000000', 'Open MPI': '#1f5fbf', 'MPICH': '#c07000', 'UCX': '#207020',
           'GASNet-EX': '#008080', 'OpenSHMEM': '#7030a0'}
GREY = '#888888'


def _svg(width, height, lines, note):
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="15">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *lines,
        _text(10, height - 10, note, size=12, colour='#666666'), '</svg>']) + '\n'


def _text(x, y, words, anchor='start', weight='normal', size=15, colour='#000000'):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-weight="{weight}" font-size="{size}" '
            f'fill="{colour}">{escape(words)}</text>')


def _rect(x, y, width, height, colour):
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height}" fill="{colour}"/>'


def _line(x1, y1, x2, y2, colour='#dddddd'):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def bars(source, question, case, title):
    """Of one case, the best first."""
    figures = source.figures
    rows = [figures.best(question, case, who) for who in figures.who(question)]
    rows = sorted((row for row in rows if row and row.value is not None), key=lambda row: row.value)
    left, width, step = 150, 470, 30
    lines = [_text(10, 22, title)]
    for i, row in enumerate(rows):
        y, size = 36 + step * i, max(1, round(width * row.value / rows[-1].value))
        weight = 'bold' if row.who == OURS else 'normal'
        lines += [_text(left - 10, y + 16, row.who, 'end', weight),
                  _rect(left, y, size, 22, GREY if row.who == LIMIT else COLOURS.get(row.who, GREY)),
                  _text(left + size + 8, y + 16, amount(row.value, figures.questions[question].unit), 'start', weight)]
    return _svg(760, 66 + step * len(rows), lines, source.machine())


class _Log:
    """A logarithmic axis from `first` to `last`, in pixels, of all `values`."""

    def __init__(self, values, first, last):
        self.low, self.high = min(values), max(values)
        self._from, self._pixels = first, (last - first) / (math.log(self.high / self.low) or 1)

    def __call__(self, value):
        return self._from + self._pixels * math.log(value / self.low)

    def decades(self):
        return [10.0 ** i for i in range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)]


def by_size(source, question):
    """A line for each contender; sizes and figures are on logarithmic axes."""
    figures, about = source.figures, source.figures.questions[question]
    rows_of = {who: [figures.best(question, case, who) for case in figures.cases(question)]
               for who in figures.who(question)}
    lines_of = {who: [(float(row.case), row.value) for row in rows if row and row.value]
                for who, rows in rows_of.items()}
    points = [point for line in lines_of.values() for point in line]
    x, y = _Log([size for size, _ in points], 90, 600), _Log([value for _, value in points], 370, 50)
    lines = [_text(10, 22, f'{about.title}: {"less" if about.better == "less" else "more"} is better')]
    for value in y.decades():
        lines += [_line(90, y(value), 600, y(value)), _text(82, y(value) + 5, amount(value, about.unit), 'end')]
    for size in x.decades():
        lines += [_line(x(size), 370, x(size), 50), _text(x(size), 390, f'{size:,.0f} B', 'middle')]
    for i, (who, line) in enumerate(lines_of.items()):
        colour = COLOURS.get(who, GREY)
        path = ' '.join(f'{x(size):.1f},{y(value):.1f}' for size, value in line)
        lines += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
                  *(f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}"/>' for size, value in line),
                  _rect(620, 52 + 22 * i, 14, 12, colour), _text(640, 64 + 22 * i, who)]
    return _svg(860, 430, lines, source.machine())


def ratios(source, *questions, end=''):
    """A bar to the right where ours is better than the best other, to the left where it is worse; of the cases
    whose name ends with `end`."""
    figures = source.figures
    found = [one for one in figures.beside_peers() if one[1] in questions and one[0] and one[2].endswith(end)]
    middle, pixels, step = 560, 70, 24
    lines = [_text(10, 22, 'By how much ours is better than the best other; to the left it is worse')]
    for i, (ratio, question, case, peer) in enumerate(found):
        y, size = 36 + step * i, max(-200.0, min(200.0, pixels * math.log2(ratio)))
        place = f', {figures.questions[question].title.partition(" o")[2].split()[-1]}' * (len(questions) > 1)
        words = f'{ratio:.2f}, {peer.who}'
        lines += [_text(10, y + 14, case_name(figures, question, case) + place, size=14),
                  _rect(middle + min(0, size), y, max(1, abs(size)), 18,
                        '#2f7d32' if ratio > 1 + LEVEL else GREY if ratio > 1 - LEVEL else COLOURS[OURS]),
                  _text(middle + max(0, size) + 8, y + 14, words, size=13)]
    if not found:
        lines = [_text(10, 22, 'Not measured beside another library')]
    lines.append(_line(middle, 30, middle, 36 + step * len(found), '#000000'))
    return _svg(920, 66 + step * len(found), lines, source.machine())


def plot(source, question):
    """The plot that suits a question; '' if there is none."""
    figures = source.figures
    if not figures.cases(question):
        return ''
    if figures.questions[question].x == 'bytes':
        return by_size(source, question)
    return ratios(source, question) if any(one[0] for one in figures.beside_peers() if one[1] == question) else ''


def pictures(source):
    """The pictures of the pages, by their name in docs/pictures."""
    two = '2 processes'
    found = {'round_trip.svg': bars(source, 'round_trip_node', '8',
                                    '8 bytes to another process of the machine and back: shorter is better'),
             'beside-others/applications.svg': ratios(source, 'applications_node', 'applications_tcp', end=two),
             'beside-others/collectives_node.svg': ratios(source, 'collectives_node', end=two)}
    for question in ('round_trip_node', 'channels_node'):
        found[f'beside-others/{question}.svg'] = plot(source, question)
    return found
