"""The chapters of ./measure: which programs are run, and which questions their lines answer."""

import re
import time

from figures import DEFAULT, LIMIT, OTHER_WAY, OURS
from machine import BENCHMARKS
from questions import ACCESSES, NAMES, OPERATIONS_NODE, OPERATIONS_TCP, ZERO_COPY

UNITS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6, 's': 1e9}
NO_CORE = 'its processes do not give up a core, and there are more of them than cores'


def split_limit(name):
    """(name, who) of a line of our benchmarks; who is None where it is a ratio."""
    what, _, kind = name.partition(':')
    return what, {'': OURS, 'limit': LIMIT}.get(kind)


def add_rows(rounds, question, rows, case, setting=lambda what: DEFAULT):
    """Of our benchmark's lines those to which `case(name, bytes)` gives a name, in ns where they are times."""
    for name, _, size, value, unit in rows:
        what, who = split_limit(name)
        row, value = case(what, size), float(value) * UNITS.get(unit, 1)
        if row and who and value > 0:
            rounds.add(question, row, who, value, setting(what))


def accesses(machine, rounds):
    add_rows(rounds, 'access_node', machine.rows(2, 1, 'latency', 'access'), lambda what, _: ACCESSES.get(what))
    for case in ('x = p[i]', '*p = x', 'p[i] = x'):
        rounds.cannot_run('access_node', 'GASNet-EX', 'only reads of one word are measured', case)
    for who, setting, _, ns in machine.ping_pong(['access_node'], 'read', machine.amount(2, 100, 500)):
        rounds.add('access_node', 'x = *p', who, ns, setting)


def operations(machine, rounds):
    def case(names):
        return lambda what, size: names.get(what) or names.get(f'{what}@{size}')
    near = [row for name in ('latency', 'message_rate', 'split_phase') for row in machine.rows(2, 1, name)
            if row[4] == 'ns']
    add_rows(rounds, 'operations_node', near, case(OPERATIONS_NODE))
    far = machine.rows(2, 2, 'network', 'short', 'access', 'atomic', 'apart', 'memory', 'barrier')
    add_rows(rounds, 'operations_tcp', far, case(OPERATIONS_TCP))


def round_trips(machine, rounds):
    kinds = ('short', 'medium', 'long')
    only_short = 'measured with 8 bytes only'
    for question, place, nodes, program in (('round_trip_node', 'node', 1, 'latency'),
                                            ('round_trip_tcp', 'tcp', 2, 'network')):
        add_rows(rounds, question, machine.rows(2, nodes, program, *kinds),
                 lambda what, size: size if what.endswith('_round_trip') else None)
        sizes = rounds.cases_now(question)
        for size in sizes if nodes == 1 else ():
            for who in ('UCX', 'GASNet-EX') if size != '8' else ():
                rounds.cannot_run(question, who, only_short, size)
        for who, setting, size, ns in machine.ping_pong([question], place, machine.amount(2, 100, 500), *sizes):
            rounds.add(question, size, who, ns, setting)


def bandwidth(machine, rounds):
    wanted = ('bulk_put', 'bulk_get', 'bulk_store')
    for question, rows in (('bandwidth_node', machine.rows(2, 1, 'bandwidth')),
                           ('bandwidth_tcp', machine.rows(2, 2, 'network', 'bulk'))):
        add_rows(rounds, question, [row for row in rows if row[4] == 'GB/s'],
                 lambda what, size: size if what in wanted else None, lambda what: what)


def rates(machine, rounds):
    title = {'request_reply_pair': 'request and reply', 'request_reply': 'request and reply', 'one_way': 'one way',
             'store': 'store', 'put': 'put'}

    def on(place):
        return lambda what, _: what in title and f'{title[what]}, {place}'
    rows = machine.rows(2, 1, 'message_rate')
    for row in rows:  # a pair is said in ns
        if row[0].startswith('request_reply_pair') and row[4] == 'ns' and float(row[3]) > 0:
            row[3:] = [str(1e3 / float(row[3])), 'M/s']
    rows = [row for row in rows if row[4] == 'M/s']
    add_rows(rounds, 'rate', rows, on('one node'))
    far = machine.rows(2, 2, 'network', 'flood', 'store')
    add_rows(rounds, 'rate', [row for row in far if row[4] == 'M/s'], on('TCP'))


def updates(machine, rounds):
    styles = {'one at a time': ('wait_for_each', 'fetch', 'each'),
              'many at a time': ('start_many', 'call', 'accumulate', 'xor'),
              'in blocks': ('gather', 'rounds', 'alltoallv', 'buckets')}
    kinds = {style: kind for kind, names in styles.items() for style in names}
    for nodes, place in ((1, 'one node'), (2, 'TCP')):
        amount = machine.amount(('--updates', 20000, '--slow', 500), ('--updates', 200000, '--slow', 2000), ())
        for row in machine.script(['atomics'], 'gups_table.sh', '--csv', '--nodes', nodes, '--rounds', 1, *amount):
            kind, value = kinds.get(row['style']), float(row['million_updates_a_second'])
            if kind and row['who'] in NAMES and value > 0:
                rounds.add('atomics', f'{kind}, {place}', NAMES[row['who']], value, row['style'])


def collectives(machine, rounds):
    for place in ('node', 'tcp'):
        question = f'collectives_{place}'
        for processes in (4, 8):
            rounds.cannot_run(question, 'MPICH', NO_CORE, f'{processes} processes')
        options = machine.amount(['--quick', '--processes', '2'], ['--reps', 3, '--processes', '2 4'], ['--reps', 5])
        for row in machine.script([question], 'collectives.sh', '--only', place, *options):
            if row['name'].startswith(('team', 'store_sync', 'broadcast_root', 'reduce_giver')):
                continue
            size = {'0': '', '8': ' of 8 B', '1024': ' of 1 KiB', '65536': ' of 64 KiB'}.get(row['bytes'], ' of 1 MiB')
            rounds.add(question, f'{row["name"]}{size}, {row["processes"]} processes', NAMES[row['who']],
                       float(row['ns']), row['setting'])


def start(machine, rounds):
    for processes in (2, 8):
        commands = [f'ours,{machine.bin}/tools/splitcrun/splitcrun -n {processes} {machine.bin}/examples/hello_splitc']
        lines = machine.output([BENCHMARKS / 'measure/start.sh', machine.work, processes], ['start']).splitlines()
        for who, _, command in (line.partition(',') for line in commands + lines):
            begin = time.monotonic()
            status = machine.status_of(command.split())
            if status == 0:
                rounds.add('start', f'{processes} processes, one node', NAMES[who], 1e9 * (time.monotonic() - begin))
            elif status is None:
                rounds.slow('start', NAMES[who])
    for name, job, _, value, _ in machine.rows(1, 1, 'scale', 'memory', quick_reps=1, reps=3):  # jobs
        if name == 'used_KiB':
            rounds.add('memory', '{} processes on {} nodes'.format(*job.split('x')), OURS, float(value))


# What else than a channel ours can do, as a contender of its own.
OTHER_WAYS = {'message': OTHER_WAY + 'request and reply', 'bulk_store': OTHER_WAY + 'bulk_store'}


def channels(machine, rounds):
    for nodes, question in ((1, 'channels_node'), (2, 'channels_tcp')):
        options = machine.amount(['--quick'], ['--samples', 10, '--sizes', '100 1000 10000 100000'], ['--samples', 20])
        for row in machine.script([question], 'channel_table.sh', '--nodes', nodes, *options):
            way, who = row['way'], NAMES[row['who']]
            if row['who'] == 'ours' and way != 'channel':
                who = OTHER_WAYS.get(way) or f'{OTHER_WAY}zero-copy {way.replace("_", " ")}'
            way = way.removeprefix(f'{row["who"]}_').replace('_', ' ')
            setting = way if row['setting'] == DEFAULT else f'{way}, {row["setting"]}'
            rounds.add(question, row['bytes'], who, float(row['ns']), setting if who in NAMES.values() else DEFAULT)


def idle_channels(machine, rounds):
    add_rows(rounds, 'channel_poll', machine.rows(2, 1, 'channel_poll'),
             lambda what, _: what.startswith('poll_') and what.removeprefix('poll_').replace('_', ', '))


def zero_copy(machine, rounds):
    for nodes, question in ((1, 'zero_copy_node'), (2, 'zero_copy_tcp')):
        add_rows(rounds, question, machine.rows(2, nodes, 'zero_copy', 'small'),
                 lambda what, size: f'{ZERO_COPY[what]}: {size} B' if what in ZERO_COPY else None)


def time_of(value, unit):
    """(ns, of what) of a program's figure in its own unit: "ms", "us an iteration", "million keys/s"."""
    rate = re.fullmatch(r'(million |[MG])(\w+)/s', unit)
    if rate:
        each = {'B': 'byte'}.get(rate[2], re.sub('ies$', 'y', rate[2]).removesuffix('s'))
        return (1 if rate[1] == 'G' else 1e3) / value, f'{"an" if each[0] in "aeiou" else "a"} {each}'
    scale, _, each = unit.partition(' ')
    if scale not in UNITS:
        raise ValueError(f'applications_mpi/programs.sh: the unit "{unit}" is neither a time nor a rate; write '
                         '"ms", "us an iteration" or "million keys/s"')
    return value * UNITS[scale], each


def applications(machine, rounds):
    questions = ['applications_node', 'applications_tcp']
    options = machine.amount(['--quick'], ['--procs', '2', '--repetitions', 2], ['--procs', '2 4', '--repetitions', 8, '--settings'])
    for question in questions:
        rounds.cannot_run(question, 'MPICH', NO_CORE, '4 processes')
    options += ['--csv', '--nodes', '1 same', '--rounds', 1]
    for row in machine.script(questions, 'applications_mpi.sh', *options):
        title, ns = program_of(row)
        rounds.add(questions[row['nodes'] != '1'], f'{title}, {row["procs"]} processes', NAMES[row['who']], ns,
                   row['version'])


def program_of(row):
    """(title, ns) of a line of applications_mpi.sh."""
    ns, each = time_of(float(row['value']), row['unit'])
    return row['program'].replace('_', ' ') + (f' ({each})' if each else ''), ns


CHAPTERS = {'accesses': accesses, 'operations': operations, 'round_trips': round_trips, 'bandwidth': bandwidth,
            'rates': rates, 'updates': updates, 'collectives': collectives, 'start': start, 'channels': channels,
            'idle_channels': idle_channels, 'zero_copy': zero_copy, 'applications': applications}
