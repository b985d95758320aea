"""Plots by gnuplot, as SVG to be put into a page."""

import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

COLOURS = {'Splitphase': '#c00000', 'by hand': '#000000', 'Open MPI': '#1f5fbf', 'MPICH': '#c07000',
           'UCX': '#207020', 'GASNet-EX': '#008080', 'OpenSHMEM': '#7030a0'}


def available():
    return shutil.which('gnuplot') is not None


def _escape(text):
    return text.replace('\\', '').replace('"', '').replace('_', ' ')


def _data(figures, question, who):
    """A line a case: its size or name, and the value of each of `who`, or ?."""
    lines = []
    for case in figures.cases(question):
        values = [figures.value(question, case, name) for name in who]
        lines.append(' '.join([case if case.isdigit() else f'"{_escape(case)}"'] + ['?' if v is None else f'{v:g}' for v in values]))
    return '\n'.join(lines) + '\n'


@functools.cache  # the page and a file of its own both want it, when all has been measured
def svg(figures, question):
    """The plot of a question: by size in lines, else bars side by side. '' if there is nothing."""
    about, who = figures.questions[question], figures.who(question)
    cases = figures.cases(question)
    if not cases or not available():
        return ''
    by_size = about.x == 'bytes'
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / 'data'
        data.write_text(_data(figures, question, who))
        settings = [
            'set terminal svg size '
            f'{"900,420" if by_size else f"{max(900, 200 + 38 * len(cases))},{400 + 6 * max(map(len, cases))}"} '
            'dynamic font "sans-serif,13" background rgb "white"',
            'set datafile missing "?"', 'set logscale y', 'set grid ytics',
            f'set ylabel "{about.unit}" noenhanced', 'set key outside top right noenhanced',
        ]
        using, style = ('1:{}', 'with linespoints pointtype 7 pointsize 0.6 linewidth 2') if by_size \
            else ('{}:xtic(1)', 'with histograms')
        parts = [f'"{data}" using {using.format(i + 2)} title "{name}" {style} '
                 f'linecolor rgb "{COLOURS.get(name, "#888888")}"' for i, name in enumerate(who)]
        if by_size:
            settings += ['set logscale x 2', 'set format x "%.0b%B"', 'set xlabel "bytes"']
        else:
            settings += ['set style fill solid 0.8', 'set boxwidth 0.9',
                         'set xtics rotate by -60 noenhanced']
        script = '\n'.join(settings) + '\nplot ' + ', '.join(parts) + '\n'
        done = subprocess.run(['gnuplot'], input=script, capture_output=True, text=True)
    if done.returncode != 0:
        return f'<p>No plot: {done.stderr.strip().splitlines()[-1]}</p>'
    return re.sub(r'^.*?(?=<svg)', '', done.stdout, flags=re.DOTALL)
