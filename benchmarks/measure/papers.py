"""The chapter `papers`: the applications of the publications that the library follows, at their sizes. It is no part
of a whole run: ./measure --only papers. Its parts take turns as chapters do."""

import re

from chapters import time_of
from figures import OURS

PROCESSES = (1, 2, 4, 8)
WAITS = ('spin', 'yield', 'block')


def add_ways(machine, rounds, question, case, processes, program, *arguments, segment, note=''):
    """What an application prints of each of its ways of communicating, which it runs in turn; `note` becomes part of
    their names."""
    text = machine.job(processes, 1, f'examples/{program}', *arguments, SPLITC_SEGMENT=segment)
    for way, us in re.findall(r'^(messages|stores|channels) +([\d.]+)  [0-9a-f]{16}$', text, re.MULTILINE):
        rounds.add(question, case, OURS, 1e3 * float(us), way + note)


def jacobi(machine, rounds):
    """The processes share the points of two turns, 8.6 GB. Filling these takes most of the time."""
    size, iterations = machine.amount(('16x16x8', 1), ('256x256x128', 5), ('1024x1024x512', 5))
    for processes in PROCESSES:
        add_ways(machine, rounds, 'papers_jacobi', f'{size.replace("x", " x ")}, {processes_of(processes)}', processes,
                 'jacobi3d', '--size', size, '--iterations', iterations, '--repetitions', 1,
                 segment=f'{9000 // processes + 300}M')


def matmul(machine, rounds):
    size = machine.amount(32, 512, 2048)
    for processes in PROCESSES:
        add_ways(machine, rounds, 'papers_matmul', f'{size} x {size}, {processes_of(processes)}', processes, 'matmul3d',
                 '--size', size, '--iterations', 1, '--repetitions', 1, segment='1G')


def pair_calculator(machine, rounds):
    """As many channels with many states as with few, where the matrices take less of the time."""
    for states, planes in machine.amount([(8, 4)], [(1024, 4), (64, 64)], [(1024, 4), (64, 64)]):
        case = f'{states:,} states, {planes} planes, {2 * states * planes:,} channels'
        options = ['--states', states, '--planes', planes, '--points', 32, '--iterations', machine.amount(2, 5, 10),
                   '--repetitions', machine.amount(1, 2, 3)]
        for more, note in ([], ''), (['--with', 'channels', '--mark'], ', marked'):
            add_ways(machine, rounds, 'papers_pairs', case, 2, 'pair_calculator', *options, *more, segment='256M',
                     note=note)


def gauss(machine, rounds):
    """Between nodes the smaller sizes only: an exchange takes as long with any."""
    for nodes, place, sizes in ((1, '', machine.amount([12], [200, 400], [800, 1200, 1600, 2000])),
                                (2, ' over TCP', machine.amount([12], [200], [800, 1200]))):
        for wait in WAITS:
            lines = machine.job(2, nodes, 'examples/gauss', '--csv', '--search', 'each', '--sizes', *sizes,
                                SPLITC_WAIT=wait)
            for size, _, exchanges, seconds, *_ in (line.split(',') for line in lines.splitlines()):
                rounds.add('papers_gauss', f'{size} equations, {int(exchanges):,} exchanges', OURS,
                           1e9 * float(seconds) / int(exchanges), wait + place)


def four_ways(machine, rounds):
    """Of each application the fastest of its versions counts."""
    options = machine.amount(['--quick'], ['--repetitions', 2], ['--repetitions', 5])
    for row in machine.script(['papers_ways'], 'ways.sh', '--applications', '--csv', '--rounds', 1, *options):
        program = re.match('EM3D|sample sort|radix sort|Jacobi 3-D|matmul', row['operation'])[0]
        ns, each = time_of(float(row['value']), row['unit'])
        rounds.add('papers_ways', f'{program} ({each})' if each else program, OURS, ns, row['way'])


def processes_of(count):
    return f'{count} process{"es" * (count > 1)}'


PAPERS = {'papers, jacobi3d': jacobi, 'papers, matmul3d': matmul, 'papers, pair_calculator': pair_calculator,
         'papers, gauss': gauss, 'papers, ways': four_ways}
