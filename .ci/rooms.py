#!/usr/bin/env python3
"""Draws docs/pictures/architecture.svg, the rooms of splitc and am, from what their files include.

    .ci/rooms.py            writes the picture
    .ci/rooms.py --check    says whether it is as it would be written

A room is a folder, or an umbrella header beside the folders. Each stands in the lowest row that is above
all rooms of its own layer that it includes; a circle among rooms is an error, and so is an include from
a layer below.
"""

import html
import os
import re
import sys

PICTURE = 'docs/pictures/architecture.svg'
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:am|splitc|shmem|rdma|tools)/[^"]+)"', re.MULTILINE)
BELOW = {'splitc': {'splitc', 'am'}, 'am': {'am', 'shmem', 'rdma'}, 'shmem': {'shmem'}, 'rdma': {'rdma'}}

# What each is, in the few words that have room in its box.
NOTES = {
    'am/am.h': 'the umbrella header and manual', 'am/c': 'the same in C', 'am/channel': 'persistent puts',
    'am/collective': 'barriers, schedules', 'am/core': 'endpoints, bundles, dispatch; get, put, store; the only '
    'loop that waits', 'am/far': 'what reaches the memory of other nodes, by RMA or by packets',
    'am/job': 'start and end', 'am/link': 'packets, frames, networks', 'am/message': 'formats',
    'am/route': 'the way to each peer; this process’s one port at the network', 'am/sodium': 'loads libsodium',
    'am/observe': 'statistics, traces, what a process is doing', 'am/sync': 'locks, backoff', 'am/table': 'a place for each process',
    'am/types': 'ranks, tags, errors, clocks',
    'am/zero_copy': 'buffers by reference', 'splitc/access': '*p, get, put, store, bulk, strided, atomics',
    'splitc/array': 'spread arrays, ranges', 'splitc/async': 'tasks, futures', 'splitc/channel': 'typed put channels', 'splitc/collective': 'barrier, broadcast, reductions',
    'splitc/compat': 'the original Split-C, for translated programs', 'splitc/compat.h': 'what translated programs include',
    'splitc/grid': 'cells with ghosts', 'splitc/group': 'who makes a collective call, and its way through its schedule',
    'splitc/pointer': 'global, spread pointers; allocation', 'splitc/rpc': 'functions in other processes, aggregators',
    'splitc/shared': 'one of each process', 'splitc/splitc.h': 'the umbrella header and manual',
    'splitc/start': 'run(): a program’s life',
    'splitc/team': 'calls of some', 'splitc/with_mpi.h': 'one job with MPI',
    'splitc/world': 'this process, its heap, far accesses, what sync() waits for',
}
TITLES = {'splitc': ('a global', 'address space'), 'am': ('Active', 'Messages II')}
PROGRAMS = ('examples', 'benchmarks', 'tests', 'tools', 'your program')
LOWEST = (('shmem', 'processes of one node', 'region, ring, mailbox, arrivals, doorbell, fence',
           'above the kernel: memfd, futex, membarrier'),
          ('rdma', 'libfabric, and nothing else', 'choose, endpoint, datagram, memory, wait_fd',
           'above libfabric, loaded when a job spans nodes'))
STYLE = '''<style>
  .paper { fill: #ffffff } .band { fill: #f4f6f8; stroke: #aab4be } .box { fill: #ffffff; stroke: #5b6570 }
  .splitc { fill: #e3eefb; stroke: #0b5cad } .lowest { fill: #fdf0db; stroke: #a86400 } .am { fill: #e4f4e6; stroke: #2b7a3a }
  .line { stroke: #5b6570; fill: none; stroke-width: 1.3 } .tip { fill: #5b6570 }
  text { font: 13px "DejaVu Sans", Verdana, sans-serif; fill: #1c2126 } .big { font-size: 15px; font-weight: bold }
  .note { font-size: 11.5px; fill: #4d5761 } .mid { text-anchor: middle }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #14181d } .band { fill: #1d232a; stroke: #4a545f } .box { fill: #14181d; stroke: #98a3ae }
    .splitc { fill: #16304a; stroke: #7cb7f2 } .lowest { fill: #3d2c0e; stroke: #e0a84f } .am { fill: #17361d; stroke: #7cc98a }
    .line { stroke: #98a3ae } .tip { fill: #98a3ae } text { fill: #dfe5ea } .note { fill: #a9b3bd }
  }
</style>
<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto-start-reverse"><path class="tip" d="M0,0 L9,4 L0,8 z"/></marker></defs>'''
LEFT, RIGHT, ROW, GAP = 150, 876, 31, 8  # pixels


def room_of(path):
    return '/'.join(path.split('/')[:2]) if path.startswith(('am/', 'splitc/')) else path.split('/')[0]


def read_rooms():
    """The rooms, and which others each includes."""
    files = [os.path.join(folder, name) for layer in BELOW for folder, _, names in os.walk(layer) for name in names]
    uses = {}
    for path in files:
        if not path.endswith(('.h', '.cc')):
            continue
        with open(path, encoding='utf-8') as file:
            included = {room_of(name) for name in INCLUDE.findall(file.read())}
        for other in included:
            if other.split('/')[0] not in BELOW[path.split('/')[0]]:
                sys.exit(f'{path} includes something of {other}, which is not below it')
        uses.setdefault(room_of(path), set()).update(included - {room_of(path)})
    return uses


def rows_of(layer, uses):
    """From the highest to the lowest."""
    levels = {}

    def level(room, above=()):
        if room in above:
            sys.exit('a circle of includes: ' + ' -> '.join([*above[above.index(room):], room]))
        if room not in levels:
            levels[room] = 1 + max((level(other, (*above, room)) for other in uses[room]
                                    if other.startswith(layer + '/')), default=-1)
        return levels[room]

    for room in uses:
        if room.startswith(layer + '/'):
            level(room)
    return [sorted(room for room in levels if levels[room] == one) for one in sorted(set(levels.values()), reverse=True)]


def text(x, y, words, kind='', note=''):
    tail = f'<tspan class="note" dx="7">{html.escape(note, quote=False)}</tspan>' if note else ''
    kind = f' class="{kind}"' if kind else ''
    return f'<text x="{x:g}" y="{y:g}"{kind}>{html.escape(words, quote=False)}{tail}</text>'


def box(kind, x, y, width, height=25):
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'


def arrow(x, y):
    return f'<path class="line" d="M{x},{y} L{x},{y + 12}" marker-end="url(#tip)"/>'


def draw_row(layer, row, y):
    """Boxes as wide as their words."""
    words = [room.split('/')[1] for room in row]
    lengths = [len(word) * 1.25 + len(NOTES[room]) + 4 for word, room in zip(words, row)]
    x, space = LEFT, RIGHT - LEFT - GAP * (len(row) - 1)
    for word, room, length in zip(words, row, lengths):
        width = round(space * length / sum(lengths))
        yield box(layer, x, y, width)
        yield text(x + 8, y + 17, word, note=NOTES[room])
        x += width + GAP


def draw_layer(layer, uses, y):
    rows = rows_of(layer, uses)
    yield box('band', 12, y, 876, len(rows) * ROW + 16)
    yield text(24, y + 24, layer, 'big')
    for i, line in enumerate(TITLES[layer]):
        yield text(24, y + 42 + 15 * i, line, 'note')
    for i, row in enumerate(rows):
        yield from draw_row(layer, row, y + 11 + ROW * i)


def draw(uses):
    heights = {layer: len(rows_of(layer, uses)) * ROW + 16 for layer in TITLES}
    y = 104
    body = [text(20, 26, 'An include only points down: to a row below, or to a folder below.', 'note'),
            box('band', 12, 38, 876, 52), text(24, 58, 'programs', 'big')]
    width = (RIGHT - LEFT - GAP * (len(PROGRAMS) - 1)) / len(PROGRAMS)
    for i, name in enumerate(PROGRAMS):
        x = LEFT + i * (width + GAP)
        body += [box('box', x, 52, width), text(x + width / 2, 69, name, 'mid')]
    for layer in TITLES:
        body += [arrow(450, y - 14), *draw_layer(layer, uses, y)]
        y += heights[layer] + 14
    for x, (name, what, parts, above) in zip((12, 458), LOWEST):
        body += [arrow(x + 215, y - 14), box('lowest', x, y, 430, 62), text(x + 12, y + 22, name, 'big'),
                 text(x + 90, y + 22, what), text(x + 90, y + 41, parts, 'note'), text(x + 90, y + 55, above, 'note')]
    height = y + 73
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {height}" width="900" height="{height}" '
            'role="img">\n<title>The layers and rooms of Splitphase</title>\n<desc>Programs use splitc or am; splitc '
            'uses am; am uses shmem and rdma, which do not know of each other.</desc>\n')
    return head + STYLE + f'\n<rect class="paper" width="900" height="{height}"/>\n' + '\n'.join(body) + '\n</svg>\n'


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    uses = read_rooms()
    rooms = {room for room in uses if '/' in room}
    if rooms != set(NOTES):
        sys.exit(f'NOTES in .ci/rooms.py: without a note {sorted(rooms - set(NOTES))}, gone {sorted(set(NOTES) - rooms)}')
    drawn = draw(uses)
    if sys.argv[1:] != ['--check']:
        with open(PICTURE, 'w', encoding='utf-8') as file:
            file.write(drawn)
        return
    with open(PICTURE, encoding='utf-8') as file:
        if file.read() != drawn:
            sys.exit(f'{PICTURE} is not what the includes say; run .ci/rooms.py')
    print(f'{len(rooms)} rooms, as drawn')


main()
