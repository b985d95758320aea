#!/usr/bin/env python3
"""A picture of a trace, or of a part of it: what each process did and when, and the arrows between them.

  splitcrun -n 4 --nodes 2 --trace out.json ./program
  splitc-timeline out.json --begin 8300 --end 8600 --out timeline.svg

Times are microseconds, as the trace has them. To look around in it, open the trace in Perfetto."""

import argparse
import json
import math
import pathlib
import re
import sys
from html import escape

COLORS = {'request': '#4f81bd', 'handler': '#9bbb59', 'poll': '#d9d9d9', 'wait': '#e6a5a5',
          'collective': '#c9b3de', 'channel': '#f0a04b', 'callback': '#7fc8a9', 'operation': '#333333'}
NO_XML = re.compile('[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
WIDTH, LEFT, RIGHT, ROW, GAP, TOP = 1200, 110, 40, 20, 14, 40
MOST = 20_000  # slices and marks, which is more than a page shows


def read_events(path):
    """One event a line, so that a trace need not fit in memory."""
    with open(path, encoding='utf-8', errors='replace') as lines:
        if not lines.readline().startswith('{"displayTimeUnit"'):
            raise ValueError(f'{path}: not a trace; splitcrun --trace FILE writes one')
        last = ''
        for line in lines:
            last = line
            if line.startswith('{') and line.endswith('\n'):  # else it was cut, perhaps behind a brace
                yield json.loads(line.rstrip().rstrip(','))
        if not last.startswith(']'):
            print(f'timeline.py: {path} has no end: it was cut, and shows what is left', file=sys.stderr)


class Picture:
    """Of what happens from `begin` to `end`."""

    def __init__(self, events, begin, end):
        self.names = {}
        self.slices, self.marks = [], []
        starts, self.arrows = {}, []
        for event in events:
            kind, time = event['ph'], event.get('ts', 0)
            if kind == 'M':
                if event['name'] == 'process_name':
                    self.names[event['pid']] = event['args']['name']
            elif kind == 'X' and time < end and time + event['dur'] > begin:
                self.slices.append(event)
            elif kind == 'i' and begin <= time < end:
                self.marks.append(event)
            elif kind in 'sf' and begin <= time < end:
                starts.setdefault(event['id'], {})[kind] = event
            if len(self.slices) + len(self.marks) > MOST:
                raise ValueError(f'more than {MOST:,} slices and marks up to {time:.0f} us; --begin and '
                                 '--end show a part')
        if not self.slices and not self.marks:
            raise ValueError('nothing happens then; times are microseconds, as the trace has them')
        everything = self.slices + self.marks
        for event in everything + [end for ends in starts.values() for end in ends.values()]:
            self.names.setdefault(event['pid'], f'rank {event["pid"]}')  # of a trace that was cut
        self.arrows = [(ends['s'], ends['f']) for ends in starts.values() if len(ends) == 2]
        self.begin = max(begin, min(event['ts'] for event in everything))
        self.end = min(end, max(event['ts'] + event.get('dur', 1) for event in everything))
        self.end = max(self.end, self.begin + max(0.001, self.begin * 1e-9))  # something to divide by
        self.place_slices()

    def place_slices(self):
        """One within another is drawn below it."""
        self.rows, self.top = {}, {}
        for pid in sorted(self.names):
            open_ends, deepest = [], 0
            own = [event for event in self.slices if event['pid'] == pid]
            for event in sorted(own, key=lambda event: (event['ts'], -event['dur'])):
                while open_ends and open_ends[-1] <= event['ts']:
                    open_ends.pop()
                event['row'] = len(open_ends)
                open_ends.append(event['ts'] + event['dur'])
                deepest = max(deepest, len(open_ends))
            self.rows[pid] = max(deepest, 1)
        y = TOP
        for pid in sorted(self.names):
            self.top[pid] = y
            y += ROW * self.rows[pid] + GAP
        self.height = y

    def x(self, time):
        share = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def axis(self):
        step = 10 ** math.floor(math.log10(self.end - self.begin))
        while (self.end - self.begin) / step < 5:
            step /= 2
        first = math.ceil(self.begin / step)
        for number in range(first, first + int((self.end - self.begin) / step) + 1):
            x = self.x(number * step)
            yield f'<path d="M{x:.1f},{TOP - 8}V{self.height - GAP}" stroke="#eee"/>'
            yield f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{number * step:,.6g} us</text>'

    def slice(self, event):
        x, right = self.x(event['ts']), self.x(event['ts'] + event['dur'])
        y, width = self.top[event['pid']] + ROW * event['row'], max(right - x, 0.6)
        place = event.get('args', {}).get('at', '')
        yield (f'<g><title>{escape(event["name"])} {escape(place)}: {event["dur"]:.3f} us from '
               f'{event["ts"]:.3f}</title><rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 2}" '
               f'fill="{COLORS.get(event.get("cat"), "#bbb")}"/>')
        letters = int(width / 6.2)
        if letters >= 4:
            yield f'<text x="{x + 3:.2f}" y="{y + 13}">{escape(event["name"][:letters])}</text>'
        yield '</g>'

    def mark(self, event):
        x, y = self.x(event['ts']), self.top[event['pid']] - 7
        yield (f'<path d="M{x:.2f},{y + 6}l-3,-6h6z" fill="{COLORS["operation"]}">'
               f'<title>{escape(event["name"])} at {event["ts"]:.3f} us</title></path>')

    def arrow(self, start, end):
        (x1, y1), (x2, y2) = ((self.x(event['ts']), self.top[event['pid']] + ROW / 2) for event in (start, end))
        yield f'<path d="M{x1:.2f},{y1:.1f}L{x2:.2f},{y2:.1f}" class="arrow" marker-end="url(#tip)"/>'

    def legend(self):
        used = [cat for cat in COLORS if any(event.get('cat') == cat for event in self.slices + self.marks)]
        for i, cat in enumerate(used):
            yield f'<rect x="{LEFT + 110 * i}" y="{self.height}" width="12" height="12" fill="{COLORS[cat]}"/>'
            yield f'<text x="{LEFT + 110 * i + 17}" y="{self.height + 11}">{cat}</text>'

    def svg(self):
        height = self.height + 22
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
               f'viewBox="0 0 {WIDTH} {height}" '
               'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
               '<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" '
               'orient="auto"><path d="M0,0L6,3L0,6z" fill="#c00"/></marker></defs>'
               '<style>.arrow{stroke:#c00;stroke-width:.8;fill:none}</style>')
        yield from self.axis()
        for pid, name in self.names.items():
            yield f'<text x="4" y="{self.top[pid] + 13}">{escape(name.split(",")[0].replace("(", "").rstrip(")"))}</text>'
        for event in self.slices:
            yield from self.slice(event)
        for start, end in self.arrows:
            yield from self.arrow(start, end)
        for event in self.marks:
            yield from self.mark(event)
        yield from self.legend()
        yield '</svg>'


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('trace', help='what --trace has written')
    parser.add_argument('--out', default='timeline.svg', help='the picture (default: %(default)s)')
    parser.add_argument('--begin', type=float, default=0, help='microseconds (default: all)')
    parser.add_argument('--end', type=float, default=math.inf, help='microseconds')
    options = parser.parse_args()
    try:
        if not 0 <= options.begin < options.end:
            raise ValueError(f'--begin {options.begin:g} --end {options.end:g}: nothing lies between them')
        picture = Picture(read_events(options.trace), options.begin, options.end)
        text = '\n'.join(picture.svg()) + '\n'
        pathlib.Path(options.out).write_text(NO_XML.sub('?', text), encoding='utf-8')
        print(f'written: {options.out}')
    except (OSError, ValueError) as error:
        sys.exit(f'timeline.py: {error}')


main()
