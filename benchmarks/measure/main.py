"""./measure: everything that this machine can say of the library beside others."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import machine as machines
import page
import pages
from chapters import CHAPTERS
from figures import Rounds
from papers import PAPERS
from questions import QUESTIONS
from scaling import SCALING
from source import Source

# No part of a whole run: what is measured alone is written to docs/NAME.csv.
ALONE = {'papers': PAPERS, 'scaling': SCALING}
# For all rounds, beside the time to build.
MINUTES = {'trial': 1, 'quick': 4.5, 'whole': 28, 'papers': 14, 'scaling': 10}
MOST_ROUNDS = 9


def read_options():
    parser = argparse.ArgumentParser(
        prog='./measure', description='Measures the library beside what this machine has of Open MPI, MPICH, UCX, '
        'GASNet-EX, OpenSHMEM and raw libfabric, in as many rounds as half an hour has room for. Writes '
        'docs/figures.csv, and from it all pages and pictures that show figures.')
    parser.add_argument('--quick', action='store_true', help='less work: five minutes on two idle cores')
    parser.add_argument('--trial', action='store_true',
                        help='hardly any work, to see that all runs: its figures mean nothing')
    parser.add_argument('--only', action='append', choices=sorted([*CHAPTERS, *ALONE]), help='these chapters; '
                        'papers, the applications of publications at their sizes, is measured only so: a quarter of an '
                        'hour, 10 GB of memory, for docs/papers.csv; and scaling, kernels with 1 to 8 processes: ten '
                        'minutes, for docs/scaling.csv')
    parser.add_argument('--minutes', type=float, help='for all rounds; each chapter has at least one')
    parser.add_argument('--rounds', type=int, default=MOST_ROUNDS, help='at most so many (default: %(default)s)')
    parser.add_argument('--out', help='a folder for figures.csv and beside-others.html, instead of the pages; with '
                        '--quick, --trial and --only, by default, measured')
    parser.add_argument('--pages', action='store_true', help='writes the pages from docs/figures.csv, and no more')
    parser.add_argument('--bin', help='a bazel-bin with everything; without it that is built')
    options = parser.parse_args()
    options.effort = 'trial' if options.trial else 'quick' if options.quick else 'whole'
    only = set(options.only or ())
    options.alone = only.pop() if options.effort == 'whole' and len(only) == 1 and only <= set(ALONE) else None
    if options.minutes is None:
        options.minutes = MINUTES[options.alone or options.effort]
    if options.rounds < 1 or options.minutes <= 0:
        parser.error('--rounds and --minutes: at least one round, and more than no time')
    if options.effort != 'whole' or options.only and not options.alone:
        options.out = options.out or 'measured'
    return options


def build():
    root = machines.BENCHMARKS.parent
    subprocess.run(['bazel', 'build', '--config=release', '--show_result=0', '//benchmarks:all', '//examples:all',
                    '//tools/splitcrun:splitcrun'], cwd=root, check=True)
    return subprocess.run(['bazel', 'info', '--config=release', '--ui_event_filters=-info', 'bazel-bin'],
                          cwd=root, check=True, capture_output=True, text=True).stdout.strip()


class Schedule:
    """Which chapter is next: of those that the time left has room for, by what they took before, the one with the
    fewest rounds. So each has at least one, and short ones have more where no long one fits any more."""

    def __init__(self, names, seconds, rounds, now=time.monotonic):
        self._took = {name: [] for name in names}
        self._most, self._now = rounds, now
        self._end = now() + seconds

    def next(self):
        """Its name, or None."""
        fits = [name for name, took in self._took.items() if not took or
                len(took) < self._most and self._now() + max(took) <= self._end]
        return min(fits, key=lambda name: len(self._took[name]), default=None)

    def done(self, name, seconds):
        self._took[name].append(seconds)

    def round(self, name):
        return len(self._took[name]) + 1

    def remarks(self):
        for name, took in self._took.items():
            yield f'{name}: {len(took)} round{"s" * (len(took) > 1)} of {max(took):.0f} s or less'


def measure(options, machine, rounds):
    """Measures all chapters; returns what a cache line took there and back, and remarks."""
    remarks, lines = [], []
    chapters = {name: chapter for name, chapter in CHAPTERS.items() if not options.only or name in options.only}
    for name in options.only or ():
        chapters.update(ALONE.get(name, {}))
    schedule = Schedule(chapters, 60 * options.minutes, options.rounds)
    before = machine.line_ns()
    while name := schedule.next():
        print(f'{name}, round {schedule.round(name)}', file=sys.stderr, flush=True)
        begin = time.monotonic()
        chapters[name](machine, rounds)
        rounds.end_round()
        after = machine.line_ns()
        if before and after and not 1 / 1.5 <= after / before <= 1.5:
            remarks.append(f'{name}, round {schedule.round(name)}: a cache line took {before:.0f} ns before and '
                           f'{after:.0f} ns after: the cores were moved, or shared with other work')
        lines += [line for line in (before, after) if line]
        before = after
        schedule.done(name, time.monotonic() - begin)
    return lines, [*remarks, *schedule.remarks()]


def measured(options):
    """The Source of a run."""
    rounds = Rounds(QUESTIONS)
    facts = machines.facts(options.effort)
    with tempfile.TemporaryDirectory() as work:
        machine = machines.Machine(options.bin or build(), options.effort, rounds, work)
        lines, remarks = measure(options, machine, rounds)
    if lines:
        facts['a cache line there and back'] = f'{min(lines):.0f} to {max(lines):.0f} ns'
    facts.update({f'remark {i}': words for i, words in enumerate([*remarks, *machine.remarks], 1)})
    return Source(facts, rounds.rows())


def main():
    options = read_options()
    if not options.pages:
        write(measured(options), options)
    if options.pages or not options.out:
        pages.write(pages.ROOT)


def write(source, options):
    if options.alone and not options.out:
        pages.alone(pages.ROOT, options.alone).write_text(source.text())
        print(f'written: docs/{options.alone}.csv')
    else:
        folder = pathlib.Path(options.out or pages.ROOT / 'docs')
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'figures.csv').write_text(source.text())
        (folder / 'beside-others.html').write_text(page.page(source))
        print(f'written: {folder}/figures.csv and beside-others.html')


if __name__ == '__main__':
    main()
