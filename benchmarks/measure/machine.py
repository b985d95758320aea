"""How programs are started on this machine, and what it is."""

import csv
import os
import pathlib
import platform
import re
import subprocess
import time

from questions import NAMES

BENCHMARKS = pathlib.Path(__file__).absolute().parent.parent
EFFORTS = ('trial', 'quick', 'whole')  # hardly any work; little; as much as makes steady figures
RUN_SECONDS = {'trial': 20, 'quick': 20, 'whole': 60}  # that one run of another library may take


class Machine:
    def __init__(self, bin_folder, effort, rounds, work):
        self.bin, self.effort, self.rounds, self.work = pathlib.Path(bin_folder), effort, rounds, work
        self.remarks = {}  # sentence: None, in order

    def amount(self, trial, quick, whole):
        """That of the three which belongs to the effort."""
        return (trial, quick, whole)[EFFORTS.index(self.effort)]

    def output(self, command, questions=(), variables={}):
        """Standard output of a command; "" and a remark if it fails. What its standard error says of other
        libraries is noted for these questions. `variables` are added to its environment."""
        command = [str(word) for word in command]
        environment = {**os.environ, 'seconds': str(RUN_SECONDS[self.effort]), **variables}
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env=environment)
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ['no reason given'])[-1]
            what = f'{pathlib.Path(command[0]).name} {" ".join(command[1:])}: {reason}'
            self.remarks[what.replace(str(self.bin), 'bazel-bin').replace(self.work, 'FOLDER')] = None
        for line in done.stderr.splitlines():
            self._note(line, questions)
        return done.stdout if done.returncode == 0 else ''

    def status_of(self, command):
        """Its exit code; None if it was ended because it took too long."""
        try:
            # No pipes: a child of what was ended would keep them open.
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=RUN_SECONDS[self.effort]).returncode
        except subprocess.TimeoutExpired:
            return None

    def _note(self, line, questions):
        slow = re.fullmatch(r'(\w+) (\w+): slow', line)
        program = re.fullmatch(r'.+, (.+): did not finish within \d+ s', line)
        left_out = re.fullmatch(r'(\S.*?)(?:\'s compiler (?:.*)| (?:is not|does not) .*): left out', line)
        for question in questions:
            if slow and slow[1] in NAMES:
                self.rounds.slow(question, NAMES[slow[1]], slow[2])
            elif program:
                self.rounds.slow(question, program[1])
            elif left_out:
                who = {'GASNet': 'GASNet-EX', 'mpirun': 'Open MPI'}.get(left_out[1], left_out[1])
                self.rounds.cannot_run(question, who, line.removesuffix(': left out'))

    def job(self, processes, nodes, program, *arguments, **variables):
        bind = 'core' if processes <= os.cpu_count() else 'none'
        return self.output([self.bin / 'tools/splitcrun/splitcrun', '-n', processes, '--nodes', nodes,
                            '--bind', bind, '--timeout', 1200, self.bin / program, *arguments],
                           variables=variables)

    def rows(self, processes, nodes, benchmark, *only, quick_reps=40, reps=None):
        """Lines benchmark,route,bytes,value,unit of one of our benchmarks."""
        arguments = ['--csv', *self.amount(['--quick'], ['--reps', quick_reps], ['--reps', reps] if reps else [])]
        for name in only:
            arguments += ['--only', name]
        text = self.job(processes, nodes, f'benchmarks/{benchmark}', *arguments)
        return [row for row in csv.reader(text.splitlines()) if len(row) == 5 and row[0] != 'benchmark']

    def ping_pong(self, questions, *arguments):
        """Lines (who, setting, bytes, ns) of ping_pong.sh."""
        lines = self.output([BENCHMARKS / 'measure/ping_pong.sh', *arguments], questions).splitlines()
        return [(NAMES[row[0]], *row[1:3], float(row[3])) for row in csv.reader(lines) if len(row) == 4]

    def script(self, questions, name, *arguments):
        """Lines of a script of benchmarks/, by names of their columns."""
        command = [BENCHMARKS / name, '--bin', self.bin, *arguments]
        return list(csv.DictReader(self.output(command, questions).splitlines()))

    def line_ns(self):
        """A cache line there and back, or None."""
        rows = self.rows(2, 1, 'limits', 'round_trip')
        return min((float(row[3]) for row in rows if row[0] == 'line_both_directions'), default=None)


def first_line(*command, missing=''):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return (done.stdout or done.stderr).strip().splitlines()[0]
    except (OSError, IndexError, subprocess.SubprocessError):
        return missing


def version(*command):
    """The last word of its first line, without Debian's revision; or ''."""
    return (first_line(*command).split() or [''])[-1].partition('-')[0]


def facts(effort):
    cpuinfo = open('/proc/cpuinfo').read().splitlines()
    cpu = next((line.split(':', 1)[1].replace('(R)', '').strip() for line in cpuinfo if line.startswith('model name')),
               platform.machine())
    virtual = any(line.startswith('flags') and ' hypervisor' in line for line in cpuinfo)
    versions = {'libfabric': version('dpkg-query', '-W', '-f', '${Version}', 'libfabric1'),
                'Open MPI': version('mpirun.openmpi', '--version'),
                'MPICH': version('dpkg-query', '-W', '-f', '${Version}', 'mpich'),
                'UCX': version('dpkg-query', '-W', '-f', '${Version}', 'ucx-utils'),
                'GASNet-EX': version('pkg-config', '--modversion', 'gasnet-smp-seq'),
                'OpenSHMEM': version('dpkg-query', '-W', '-f', '${Version}', 'openmpi-bin')}
    return {'machine': f'{cpu}, {os.cpu_count()} {"virtual " * virtual}cores',
            'date': time.strftime('%Y-%m-%d'),
            'system': f'{platform.system()} {platform.release().partition("-")[0]}',
            'compiler': f'g++ {version("g++", "--version")}',
            'commit': first_line('git', '-C', str(BENCHMARKS), 'rev-parse', '--short', 'HEAD', missing='unknown'),
            **{name: text for name, text in versions.items() if text},
            **{f'doubt {i}': text for i, text in enumerate(doubts(effort), 1)}}


def doubts(effort):
    """What takes the worth from all figures, before they are measured."""
    if effort == 'trial':
        yield 'This is a trial with hardly any work: its figures mean nothing.'
    share = busy_share()
    if share > 0.2:
        yield (f'The machine was busy before the first round ({share:.0%} of {os.cpu_count()} cores): measure again on '
               'an idle one before you believe a figure.')


def busy_share(seconds=2):
    """How much of all cores others use now. (The load average would count the build that precedes the rounds.)"""
    def ticks():
        numbers = [int(word) for word in open('/proc/stat').readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # in all; idle, and waiting for a disk
    begin, idle_then = ticks()
    time.sleep(seconds)
    end, idle_now = ticks()
    return 1 - (idle_now - idle_then) / (end - begin)
