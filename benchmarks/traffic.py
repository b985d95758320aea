#!/usr/bin/env python3
"""Who sends how much to whom, as a picture: reads what --stats=json has written, and writes an SVG.

  splitcrun -n 8 --nodes 2 --stats=json ./program 2>report
  splitc-traffic report --out traffic.svg

Needs gnuplot."""

import argparse
import json
import math
import pathlib
import subprocess
import sys


def read_report(path):
    """The last line of the file that is a report; other lines are what the program has said."""
    lines = sys.stdin if path == '-' else pathlib.Path(path).read_text(errors='replace').splitlines()
    for line in reversed(list(lines)):
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if isinstance(report, dict) and 'by_process' in report:
            return report
    raise ValueError(f'{path}: no line of it is a report; run the program with --stats=json, and give '
                     'me what it writes to standard error')


def matrix_of(report, what):
    """By sender, then by receiver; nan where nothing went."""
    count = report['processes']
    matrix = [[math.nan] * count for _ in range(count)]
    for process in report['by_process']:
        for traffic in process['traffic']:
            matrix[process['rank']][traffic['to']] = traffic[what]
    return matrix


def script_of(matrix, what, nodes):
    count = len(matrix)
    rows = '\n'.join(' '.join(f'{value:g}' for value in row) for row in matrix)
    tics = max(1, count // 16)
    return f'''set terminal svg size 640,560 dynamic font "sans-serif,13" background rgb "white"
set title "{what} with other nodes: {count} processes on {nodes} nodes"
set xlabel "to process"
set ylabel "from process"
set xrange [-0.5:{count - 0.5}]
set yrange [{count - 0.5}:-0.5]
set xtics {tics}
set ytics {tics}
set cblabel "{what}"
set cbrange [0:*]
set palette defined (0 "#fff4e8", 1 "#c00000")
set datafile missing "nan"
$traffic << END
{rows}
END
plot $traffic matrix with image pixels notitle
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('report', help='a file with the line that --stats=json writes; - is standard input')
    parser.add_argument('--out', default='traffic.svg', help='the picture (default: %(default)s)')
    parser.add_argument('--of', choices=['bytes', 'operations'], default='bytes')
    options = parser.parse_args()
    try:
        report = read_report(options.report)
        matrix = matrix_of(report, options.of)
        if all(math.isnan(value) for row in matrix for value in row):
            raise ValueError('nothing went to another node; on one node, --nodes 2 pretends that there are two')
        done = subprocess.run(['gnuplot'], input=script_of(matrix, options.of, report['nodes']),
                              text=True, check=True, capture_output=True)
        pathlib.Path(options.out).write_text(done.stdout)
    except FileNotFoundError as error:
        sys.exit(f'traffic.py: {error.filename}: not found' +
                 ('; install gnuplot (Debian: gnuplot-nox)' if error.filename == 'gnuplot' else ''))
    except subprocess.CalledProcessError as error:
        sys.exit(f'traffic.py: gnuplot: {error.stderr.strip()}')
    except (OSError, ValueError) as error:
        sys.exit(f'traffic.py: {error}')


main()
