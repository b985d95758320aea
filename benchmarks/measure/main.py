"""./measure: everything that this machine can say of the library beside others, as one page."""

import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import plot
import readme
from chapters import BENCHMARKS, CHAPTERS, QUESTIONS, Machine
from figures import Figures
from page import page

METHOD = [
    'Everybody ran in turn: in each round every chapter once, and in it all contenders one after the '
    'other. Of times the least of all rounds stands here, of rates the highest. "Against" is by how much '
    'ours is better, for times and rates alike: 2.00 is twice as good, below 1.00 the other is ahead. '
    '"~" marks a figure whose rounds differed: the median is more than a fifth worse than the best.',
    'Before and after each chapter a cache line was sent there and back between two cores. Where that '
    'took more than 1.5 times as long after as before, or before as after, the placement of the cores '
    'changed, and the chapter is named below.',
    '"By hand" is the fastest that is known to do the same without a library: stores to a shared cache '
    'line or ring, or memcpy; between nodes the same messages by libfabric alone, each sent by itself, '
    'as a simple program does it. Where ours is many times as fast, it sends many with one system call.',
]


def read_options():
    parser = argparse.ArgumentParser(
        prog='./measure', description='Measures the library beside what this machine has of Open MPI, '
        'MPICH and raw libfabric, and writes one page (HTML) with tables, plots and all figures.')
    parser.add_argument('--out', default='measured.html', help='the page (default: %(default)s)')
    parser.add_argument('--rounds', type=int, default=None, help='default: 5')
    parser.add_argument('--quick', action='store_true',
                        help='one round: some six minutes on two idle cores, beside the time to build')
    parser.add_argument('--readme', action='store_true',
                        help="only what the README shows, as many rounds as three minutes have room for, at "
                        "most 5: writes docs/figures.csv, and the README's table and chart from it")
    parser.add_argument('--trial', action='store_true',
                        help='hardly any work, to see that all runs: its figures mean nothing')
    parser.add_argument('--only', action='append', choices=sorted(CHAPTERS), help='these chapters')
    parser.add_argument('--pictures', help='a folder, for each plot as a file by itself (SVG)')
    parser.add_argument('--bin', help='a bazel-bin with everything; without it that is built')
    options = parser.parse_args()
    if options.rounds is None:
        options.rounds = 1 if options.quick or options.trial else 5
    if options.rounds < 1:
        parser.error(f'--rounds {options.rounds}: at least 1')
    if options.readme:
        if options.only or options.trial or options.pictures:
            parser.error('--readme goes with neither --only, --trial nor --pictures')
        options.only = readme.CHAPTERS
    options.seconds = 170 if options.readme else float('inf')
    return options


def build(only_readme):
    root = BENCHMARKS.parent
    targets = [f'//benchmarks:{name}' for name in readme.PROGRAMS] if only_readme else \
        ['//benchmarks:all', '//examples:all']
    targets.append('//tools/splitcrun:splitcrun')
    subprocess.run(['bazel', 'build', '--config=release', '--show_result=0', *targets], cwd=root,
                   check=True)
    return subprocess.run(['bazel', 'info', '--config=release', '--ui_event_filters=-info', 'bazel-bin'],
                          cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def first_line(*command, missing='not installed'):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return (done.stdout or done.stderr).strip().splitlines()[0]
    except (OSError, IndexError, subprocess.SubprocessError):
        return missing


def last_word(line):
    """Of a line that ends with a version, without Debian's revision."""
    return line.split()[-1].partition('-')[0]


def versions():
    """Of what is compared with and is installed, by its name."""
    commands = {'libfabric': ['dpkg-query', '-W', '-f', '${Version}', 'libfabric1'],
                'Open MPI': ['mpirun.openmpi', '--version'],
                'MPICH': ['dpkg-query', '-W', '-f', '${Version}', 'mpich'],
                'UCX': ['dpkg-query', '-W', '-f', '${Version}', 'ucx-utils'],
                'GASNet-EX': ['pkg-config', '--modversion', 'gasnet-smp-seq']}
    found = {name: first_line(*command, missing='') for name, command in commands.items()}
    return {name: last_word(line) for name, line in found.items() if line}


def machine_facts(options):
    cpuinfo = open('/proc/cpuinfo').read().splitlines()
    cpu = next((line.split(':', 1)[1].replace('(R)', '').strip() for line in cpuinfo if line.startswith('model name')),
               platform.machine())
    virtual = any(line.startswith('flags') and ' hypervisor' in line for line in cpuinfo)
    commit = first_line('git', '-C', str(BENCHMARKS.parent), 'rev-parse', '--short', 'HEAD',
                        missing='unknown')
    return [
        ('processor', f'{cpu}, {os.cpu_count()} cores{" of a virtual machine" * virtual}'),
        ('system', f'{platform.system()} {platform.release()}'),
        ('date', time.strftime('%Y-%m-%d')),
        ('compiler', f'g++ {last_word(first_line("g++", "--version"))}'),
        ('Splitphase', f'commit {commit}, release build'),
        *versions().items(),
        ('load before', f'{os.getloadavg()[0]:.1f}'),
    ]


def warnings(options):
    """What takes the worth from all figures, before they are measured."""
    if options.trial:
        yield 'This is a trial with hardly any work: its figures mean nothing.'
    if os.getloadavg()[0] > os.cpu_count() / 2:
        yield (f'The machine was busy before the first round (load {os.getloadavg()[0]:.1f} on '
               f'{os.cpu_count()} cores): measure again on an idle one before you believe a figure.')
    if options.rounds == 1:
        yield 'One round: nothing says how steady these figures are.'


class Progress:
    """Where it is, and how long it will take by what the chapters took before."""

    def __init__(self, chapters, rounds):
        self.names, self.rounds, self.took, self.begin = chapters, rounds, {}, time.monotonic()

    def say(self, number, name):
        left = ''
        if len(self.took) == len(self.names):
            chapter = self.names.index(name)
            ahead = self.names[chapter:] + self.names * (self.rounds - number - 1)
            left = f', about {sum(self.took[n] for n in ahead) / 60:.0f} min left'
        print(f'round {number + 1} of {self.rounds}, {name}{left}', file=sys.stderr, flush=True)

    def took_now(self, name, seconds):
        self.took[name] = seconds


def line_ns(machine):
    """A cache line there and back, or None."""
    rows = machine.rows(2, 1, 'limits', 'round_trip')
    return min((float(row[3]) for row in rows if row[0] == 'line_both_directions'), default=None)


def measure(options, machine, figures):
    """Remarks on what was unsteady, and what a cache line took there and back, in ns."""
    remarks, lines = [], []
    names = [name for name in CHAPTERS if not options.only or name in options.only]
    progress = Progress(names, options.rounds)
    for number in range(options.rounds):
        if number and (time.monotonic() - progress.begin) * (number + 1) / number > options.seconds:
            break
        for name in names:
            progress.say(number, name)
            begin, before = time.monotonic(), line_ns(machine)
            CHAPTERS[name](machine, figures)
            after = line_ns(machine)
            lines += [line for line in (before, after) if line]
            if before and after and not 1 / 1.5 <= after / before <= 1.5:
                remarks.append(f'{name}, round {number + 1}: a cache line took {before:.0f} ns before and '
                               f'{after:.0f} ns after')
            progress.took_now(name, time.monotonic() - begin)
        figures.end_round()
    remarks.append(f'all of it took {(time.monotonic() - progress.begin) / 60:.1f} min')
    return remarks, f'{min(lines):.0f} to {max(lines):.0f}' if lines else 'unknown'


def write_readme(facts, line, figures):
    """Without what says nothing of the machine: the date, the load, the commit."""
    kept = [(name, text) for name, text in facts if name not in ('date', 'load before', 'Splitphase', 'rounds')]
    (readme.ROOT / 'docs/figures.csv').write_text(readme.source_text([*kept, ('cache line', line)], figures))
    readme.main(readme.ROOT, check=False)


def write_pictures(figures, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for question in figures.questions:
        picture = plot.svg(figures, question)
        if picture.startswith('<svg'):
            (folder / f'{question}.svg').write_text(picture)
            print(f'written: {folder / question}.svg')


def main():
    options = read_options()
    bin_folder = options.bin or build(options.readme)
    figures = Figures(QUESTIONS)
    with tempfile.TemporaryDirectory() as work:
        machine = Machine(bin_folder, options.trial, work, brief=options.readme)
        facts, doubts = machine_facts(options), list(warnings(options))
        remarks, line = measure(options, machine, figures)
        remarks += machine.left_out
    facts.append(('rounds', f'{figures.rounds()}'))
    if options.readme:
        write_readme(facts, line, figures)
        print('\n'.join(doubts + remarks), file=sys.stderr)
        return
    if not plot.available():
        remarks.append('no plots, for gnuplot is not installed (gnuplot-nox)')
    facts.append(('a cache line there and back', f'{line} ns'))
    pathlib.Path(options.out).write_text(page(figures, facts, doubts, remarks, METHOD))
    print(f'written: {options.out}')
    if options.pictures:
        write_pictures(figures, pathlib.Path(options.pictures))


if __name__ == '__main__':
    main()
