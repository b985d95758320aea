"""The figures of the README: its table, where others are ahead, and its chart, all from one file.

    benchmarks/measure/readme.py [--check]     writes them from docs/figures.csv; or says what differs

./measure --readme measures, writes that file, and then does the same.
"""

import pathlib
import sys
import textwrap
from xml.sax.saxutils import escape

from chapters import QUESTIONS
from figures import LIMIT, OURS, Figures

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent
BEGIN, END = '<!-- figures: written by ./measure --readme -->\n', '<!-- end of figures -->\n'
PROGRAMS = ['channel_pingpong', 'collectives', 'latency', 'limits', 'network']  # that the chapters run
CHAPTERS = ['accesses', 'round_trips', 'channels', 'collectives']

# A row of the table: question, case, what it is.
ROWS = [
    ('access_node', 'x = *p', 'one node: `x = *p`, a word of another process'),
    ('round_trip_node', '8', 'one node: short request and reply'),
    ('round_trip_node', '4096', 'one node: 4 KiB request and reply'),
    ('channels_node', '1000', 'one node: 1,000 bytes there and back by a put channel'),
    ('channels_tcp', '10000', 'TCP: 10,000 bytes there and back by a put channel'),
    ('round_trip_tcp', '8', 'TCP: short request and reply'),
]

# Where others may be ahead: question, case, what it is. The three worst are shown.
LOSSES = [
    ('collectives_node', 'broadcast of 8 B, 4 processes',
     'A broadcast of 8 bytes to 4 processes of one node'),
    ('collectives_node', 'reduce of 64 KiB, 4 processes', 'A reduction of 64 KiB among 4 processes of one node'),
    ('collectives_node', 'all_gather of 8 B, 4 processes', 'An all-gather of 8 bytes among 4 processes of one node'),
    ('round_trip_tcp', '1048576', 'Messages of 1 MiB there and back over TCP'),
    ('round_trip_tcp', '4096', 'Messages of 4 KiB there and back over TCP'),
    ('round_trip_tcp', '8', 'Short messages there and back over TCP'),
]


class Source:
    """The file: lines `# name: text` about the machine, and then the figures."""

    def __init__(self, text):
        lines = text.splitlines(keepends=True)
        facts = [line for line in lines if line.startswith('# ')]
        self.facts = dict(line[2:].strip().split(': ', 1) for line in facts)
        self.figures = Figures(QUESTIONS)
        self.figures.read_csv(''.join(lines[len(facts):]))


def source_text(facts, figures):
    """Of these figures those that the README may show."""
    figures = figures.only([(question, case) for question, case, _ in ROWS + LOSSES])
    return ''.join(f'# {name}: {text}\n' for name, text in facts) + figures.csv()


def number(value):
    return f'{value:,.0f}' if value >= 1000 else f'{value:.3g}'


def shown(figures, question, value):
    if value is None:
        return '–'
    unit = figures.questions[question].unit
    if unit == 'us':
        return f'{number(value)} µs' if value >= 1 else f'{number(1e3 * value)} ns'
    return f'{number(value)} {unit}'


def table(figures):
    """Rows that have not been measured are left out."""
    lines = ['| | Splitphase | by hand | best other |', '|---|---|---|---|']
    for question, case, what in ROWS:
        ours, limit = (figures.value(question, case, who) for who in (OURS, LIMIT))
        if ours is None:
            continue
        peer = figures.best_peer(question, case)
        other = f'{shown(figures, question, peer[1])}, {peer[0]}' if peer else '–'
        lines.append(f'| {what} | {shown(figures, question, ours)} | {shown(figures, question, limit)} | {other} |')
    return '\n'.join(lines) + '\n'


def losses(figures):
    """The three places of LOSSES where another is furthest ahead."""
    behind = []
    for question, case, what in LOSSES:
        peer = figures.best_peer(question, case)
        ratio = peer and figures.times_as_good(question, case, peer[1])
        if ratio and ratio < 0.97:
            ours = shown(figures, question, figures.value(question, case, OURS))
            behind.append((ratio, f'- {what}: ours {ours}, {peer[0]} {shown(figures, question, peer[1])}.\n'))
    return ''.join(line for _, line in sorted(behind)[:3])


def machine(facts, rounds):
    others = [f'{name} {facts[name]}' for name in ('UCX', 'GASNet-EX', 'Open MPI', 'MPICH') if name in facts]
    text = (f'Two processes on one machine: {facts["processor"]}, {facts["system"].partition("-")[0]}, '
            f'{facts["compiler"]}, {", ".join(others)}. TCP is its loopback; by hand is '
            f'loads and stores, or libfabric alone. The best of {rounds} rounds counts ([how](docs/measured.md)); '
            f'a cache line took {facts["cache line"]} ns there and back.')
    return '\n'.join(textwrap.wrap(text, 120)) + '\n'


def section(source):
    behind = losses(source.figures)
    parts = [machine(source.facts, source.figures.rounds()), table(source.figures)]
    return '\n'.join(parts + (['Where others are ahead:\n' + behind] if behind else []))


def rewritten(text, source):
    """A page whose part between the marks is that of the source."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f'the page lacks the line {(END if begin else BEGIN).strip()}')
    return before + begin + section(source) + end + after


BAR_NAMES = {LIMIT: 'cache line, by hand'}
BAR_COLOURS = {OURS: '#c00000', LIMIT: '#888888'}


def chart(source):
    """Bars of the short round trip on one node, as SVG."""
    figures, question, case = source.figures, 'round_trip_node', '8'
    bars = [(figures.value(question, case, who), who) for who in figures.who(question)]
    bars = sorted(bar for bar in bars if bar[0] is not None)
    left, width, step = 190, 480, 30
    height, longest = 72 + step * len(bars), max(value for value, _ in bars)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" '
             'font-size="15">',
             f'<rect width="760" height="{height}" fill="#ffffff"/>',
             '<text x="10" y="22">8 bytes to another process of the machine and back, in ns: shorter is better</text>']
    for i, (value, who) in enumerate(bars):
        y, size = 36 + step * i, max(1, round(width * value / longest))
        weight = ' font-weight="bold"' if who == OURS else ''
        lines += [f'<text x="{left - 10}" y="{y + 16}" text-anchor="end"{weight}>{escape(BAR_NAMES.get(who, who))}</text>',
                  f'<rect x="{left}" y="{y}" width="{size}" height="22" fill="{BAR_COLOURS.get(who, "#1f5fbf")}"/>',
                  f'<text x="{left + size + 8}" y="{y + 16}"{weight}>{number(value)}</text>']
    lines.append(f'<text x="10" y="{height - 14}" font-size="12" fill="#666666">{escape(source.facts["processor"])}, '
                 f'{escape(source.facts["compiler"])}</text>')
    return '\n'.join(lines + ['</svg>']) + '\n'


def main(root, check):
    source = Source((root / 'docs/figures.csv').read_text())
    page, picture = root / 'README.md', root / 'docs/pictures/round_trip.svg'
    wanted = {page: rewritten(page.read_text(), source), picture: chart(source)}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not check:
            path.write_text(wanted[path])
        print(f'{path}: {"differs from docs/figures.csv; run benchmarks/measure/readme.py" if check else "written"}')
    return bool(check and stale)


if __name__ == '__main__':
    sys.exit(main(ROOT, '--check' in sys.argv[1:]))
