"""What is run, and which questions it answers."""

import csv
import os
import pathlib
import re
import subprocess
import time

from figures import LIMIT, OURS, Question

BENCHMARKS = pathlib.Path(__file__).absolute().parent.parent

QUESTIONS = [
    Question('access_node', 'A word of another process on one node', 'ns', 'less', '',
             'Reads and writes of 8 bytes, the same word or one after the other; by hand: a raw pointer.'),
    Question('round_trip_node', 'Round trip on one node', 'ns', 'less', 'bytes',
             'A request with so many bytes and a reply with as many; MPI: a message there and back.'),
    Question('round_trip_tcp', 'Round trip over TCP', 'us', 'less', 'bytes',
             'The same between two nodes that are one machine; by hand: libfabric alone.'),
    Question('bandwidth_node', 'Bandwidth on one node', 'GB/s', 'more', 'bytes',
             'Large writes and reads (bulk_put, bulk_get, bulk_store); by hand: memcpy.'),
    Question('bandwidth_tcp', 'Bandwidth over TCP', 'GB/s', 'more', 'bytes',
             'The same between two nodes that are one machine; by hand: libfabric alone.'),
    Question('rate', 'Message rate', 'M/s', 'more', '',
             'Many small operations in a row, 8 bytes each; by hand: the fastest ring known, or '
             'libfabric alone.'),
    Question('atomics', 'Updates of random words', 'M/s', 'more', '',
             'Exclusive or of words all over the memory of two processes. MPI: Fetch_and_op with a '
             'flush for each, Accumulate, and buckets or Alltoallv.'),
    Question('collectives_node', 'Collective calls on one node', 'us', 'less', '',
             'Of 2, 4 and 8 processes. Of broadcast_fixed the root stays, of broadcast it changes.'),
    Question('collectives_tcp', 'Collective calls over TCP', 'us', 'less', '',
             'A node for each of 2, 4 and 8 processes, which share the cores of this machine.'),
    Question('start', 'Start and end of a job', 'ms', 'less', '',
             'From the command to its end, of a program that does nothing but start, meet and end.'),
    Question('memory', 'Memory of a process', 'KiB', 'less', '',
             'Private memory and pages of its segment in use, after the start.'),
    Question('channels_node', 'Persistent channels on one node', 'us', 'less', 'bytes',
             'There and back through a put channel. MPI: the fastest of send, persistent send, and Put '
             'with a flag or flush.'),
    Question('channels_tcp', 'Persistent channels over TCP', 'us', 'less', 'bytes',
             'The same between two nodes that are one machine.'),
    Question('applications_node', 'Applications on one node', 'of our time', 'less', '',
             'The same algorithm on the same input with the same answer, each in its fastest version.'),
    Question('applications_tcp', 'Applications over TCP', 'of our time', 'less', '',
             'The same, a node for each process.'),
]

NAMES = {'ours': OURS, 'open_mpi': 'Open MPI', 'mpich': 'MPICH', 'ucx': 'UCX', 'gasnet': 'GASNet-EX',
         'shmem': 'OpenSHMEM'}
UNITS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6}


class Machine:
    """How programs are started here, and what is left out."""

    def __init__(self, bin_folder, trial, work, brief=False):
        """`trial`: hardly any work. `brief`: only what the README shows."""
        self.bin, self.trial, self.work = pathlib.Path(bin_folder), trial, pathlib.Path(work)
        self.brief = brief
        self.left_out = {}  # sentence: None, in order

    def output(self, command, **options):
        """Standard output of a command; "" and a remark if it fails."""
        command = [str(word) for word in command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, **options)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
            self.left_out[f'{pathlib.Path(command[0]).name} {" ".join(command[1:4])}: {reason}'] = None
            return ''
        for line in (done.stdout + done.stderr).splitlines():
            if line.endswith(': left out') or line.startswith('cannot run: '):
                self.left_out[line] = None
        return done.stdout

    def job(self, processes, nodes, program, *arguments):
        bind = 'core' if processes <= os.cpu_count() else 'none'
        return self.output([self.bin / 'tools/splitcrun/splitcrun', '-n', processes, '--nodes', nodes,
                            '--bind', bind, '--timeout', 1200, self.bin / program, *arguments])

    def rows(self, processes, nodes, benchmark, *only):
        """Lines benchmark,route,bytes,value,unit of one of our benchmarks."""
        arguments = ['--csv'] + (['--quick'] if self.trial else [])
        for name in only:
            arguments += ['--only', name]
        text = self.job(processes, nodes, f'benchmarks/{benchmark}', *arguments)
        return [row for row in csv.reader(text.splitlines()) if len(row) == 5 and row[0] != 'benchmark']

    def others(self, *arguments):
        """Lines (who, bytes, ns) of ping_pong.sh."""
        lines = self.output([BENCHMARKS / 'measure/ping_pong.sh', *arguments]).splitlines()
        return [row for row in csv.reader(lines) if len(row) == 3]

    def script(self, name, *arguments):
        """Lines of a script of this folder, by names of their columns."""
        command = [BENCHMARKS / name, '--bin', self.bin, *arguments]
        return list(csv.DictReader(self.output(command).splitlines()))


def split_limit(name):
    """(name, who) of a line of our benchmarks; who is None where it is a ratio."""
    what, _, kind = name.partition(':')
    return what, {'': OURS, 'limit': LIMIT}.get(kind)


def add_rows(figures, question, rows, wanted, case=None):
    """Of our benchmark's lines those named in `wanted`."""
    to = figures.questions[question].unit
    for name, _, size, value, unit in rows:
        what, who = split_limit(name)
        if what not in wanted or who is None:
            continue
        value = float(value)
        if unit in UNITS and to in UNITS:
            value *= UNITS[unit] / UNITS[to]
        if value > 0:
            figures.add(question, size if case is None else case(what), who, value)


ACCESSES = {'read_*p': 'x = *p', 'read_p[i]': 'x = p[i]', 'write_*p': '*p = x', 'write_p[i]': 'p[i] = x'}


def accesses(machine, figures):
    add_rows(figures, 'access_node', machine.rows(2, 1, 'latency', 'access'), ACCESSES, ACCESSES.get)
    for who, _, ns in machine.others('read', '2' if machine.trial else '500'):
        figures.add('access_node', 'x = *p', NAMES[who], float(ns))


def round_trips(machine, figures):
    kinds = ('short', 'medium', 'long')
    wanted = [f'{kind}_round_trip' for kind in kinds]
    near = kinds[:2] if machine.brief else kinds
    add_rows(figures, 'round_trip_node', machine.rows(2, 1, 'latency', *near), wanted)
    add_rows(figures, 'round_trip_tcp', machine.rows(2, 2, 'network', *kinds), wanted)
    repetitions = '2' if machine.trial else '200' if machine.brief else '500'
    for place, question, scale in (('node', 'round_trip_node', 1), ('tcp', 'round_trip_tcp', 1e-3)):
        sizes = [size for size in figures.cases_now(question)
                 if not machine.brief or size in ('8', '4096', '1048576')]
        for who, size, ns in machine.others(place, repetitions, *sizes):
            figures.add(question, size, NAMES[who], float(ns) * scale)


def bandwidth(machine, figures):
    wanted = ('bulk_put', 'bulk_get', 'bulk_store')
    add_rows(figures, 'bandwidth_node', machine.rows(2, 1, 'bandwidth'), wanted)
    rows = [row for row in machine.rows(2, 2, 'network', 'bulk') if row[4] == 'GB/s']
    add_rows(figures, 'bandwidth_tcp', rows, wanted)


def rates(machine, figures):
    title = {'request_reply_pair': 'request and reply', 'request_reply': 'request and reply'}

    def on(place):
        return lambda what: f'{title.get(what, what).replace("_", " ")}, {place}'
    rows = machine.rows(2, 1, 'message_rate')
    for row in rows:  # a pair is said in ns
        if row[0].startswith('request_reply_pair') and row[4] == 'ns' and float(row[3]) > 0:
            row[3:] = [str(1e3 / float(row[3])), 'M/s']
    add_rows(figures, 'rate', rows, ('request_reply_pair', 'one_way', 'store', 'put'), on('one node'))
    add_rows(figures, 'rate', machine.rows(2, 2, 'network', 'flood', 'store'),
             ('request_reply', 'one_way', 'store'), on('TCP'))


def updates(machine, figures):
    kinds = {'wait_for_each': 'one at a time', 'fetch': 'one at a time', 'start_many': 'many at a time',
             'call': 'many at a time', 'accumulate': 'many at a time', 'gather': 'in blocks',
             'rounds': 'in blocks', 'alltoallv': 'in blocks', 'buckets': 'in blocks'}
    amount = ('--updates', '20000', '--slow', '500') if machine.trial else ()
    for nodes, place in ((1, 'one node'), (2, 'TCP')):
        for row in machine.script('gups_table.sh', '--csv', '--nodes', nodes, '--rounds', 1, *amount):
            kind, value = kinds.get(row['style']), float(row['million_updates_a_second'])
            if kind and row['who'] in NAMES and value > 0:
                figures.add('atomics', f'{kind}, {place}', NAMES[row['who']], value)


def collectives(machine, figures):
    options = ['--quick'] if machine.trial else []
    if machine.brief:
        options += ['--only', 'node', '--processes', '4']
    for row in machine.script('collectives.sh', '--csv', '--rounds', 1, *options):
        if row['name'].startswith(('team', 'store_sync')):
            continue
        size = '' if row['bytes'] == '0' else ' of 8 B' if row['bytes'] == '8' else ' of 64 KiB'
        figures.add(f'collectives_{row["place"]}', f'{row["name"]}{size}, {row["processes"]} processes',
                    NAMES[row['who']], float(row['ns']) / 1e3)


def start(machine, figures):
    for processes in (2, 8):
        case = f'{processes} processes, one node'
        for who, command in start_commands(machine, processes):
            begin = time.monotonic()
            if subprocess.run(command, capture_output=True, timeout=300).returncode == 0:
                figures.add('start', case, who, 1e3 * (time.monotonic() - begin))
    for name, job, _, value, _ in machine.rows(1, 1, 'scale', 'memory'):
        if name == 'used_KiB':
            processes, nodes = job.split('x')
            figures.add('memory', f'{processes} processes on {nodes} nodes', OURS, float(value))


def start_commands(machine, processes):
    yield OURS, [machine.bin / 'tools/splitcrun/splitcrun', '-n', str(processes),
                 machine.bin / 'examples/hello_splitc']
    prepared = machine.output([BENCHMARKS / 'measure/start.sh', machine.work, processes])
    for line in prepared.splitlines():
        who, _, command = line.partition(',')
        if who in NAMES:
            yield NAMES[who], command.split()


def channels(machine, figures):
    options = ['--quick'] if machine.trial else []
    if machine.brief:
        options += ['--sizes', '1000 10000']
    for nodes, place in ((1, 'node'), (2, 'tcp')):
        machine.output([BENCHMARKS / 'channel_table.sh', '--bin', machine.bin, '--nodes', nodes,
                        '--rounds', 1, '--out', machine.work, *options])
        table = machine.work / f'channel_{place}.csv'
        if not table.exists():
            continue
        for row in csv.DictReader(table.read_text().splitlines()):
            for name, value in row.items():
                who = channel_contender(name)
                if who and re.fullmatch(r'[0-9.]+', value or '') and float(value) > 0:
                    figures.add(f'channels_{place}', row['bytes'], who, float(value))


def channel_contender(column):
    if '/' in column:
        return None
    return {'channel': OURS, 'raw': LIMIT, 'raw_one_line': LIMIT}.get(
        column, NAMES['open_mpi'] if column.startswith('open_mpi') else
        NAMES['mpich'] if column.startswith('mpich') else None)


def applications(machine, figures):
    quick = ['--quick'] if machine.trial else []
    rows = machine.script('applications_mpi.sh', '--csv', '--procs', '2 4', '--nodes', '1 same',
                          '--rounds', 1, *quick)
    best = {}  # of versions
    for row in rows:
        key = (row['nodes'], row['program'], row['procs'], row['who'])
        value = float(row['value']) if row['better'] == 'less' else 1 / float(row['value'])
        best[key] = min(value, best.get(key, value))
    for (nodes, program, procs, who), value in best.items():
        ours = best.get((nodes, program, procs, 'ours'))
        if ours:
            place = 'node' if nodes == '1' else 'tcp'
            figures.add(f'applications_{place}', f'{program.replace("_", " ")}, {procs} processes',
                        NAMES[who], value / ours)


CHAPTERS = {
    'accesses': accesses, 'round_trips': round_trips, 'bandwidth': bandwidth, 'rates': rates, 'updates': updates,
    'collectives': collectives, 'start': start, 'channels': channels, 'applications': applications,
}
