#!/usr/bin/env python3
"""typed_figures_test.py README: that no page has a figure that was typed by hand. Figures come from
docs/figures.csv and stand in regions, which ./measure --pages writes.

A figure is a number with a unit of speed or of a short time, or a comparison such as "2.1 times as fast". Seconds
and minutes are settings and limits, and sizes are no figures.
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop()).resolve().parent

REGION = re.compile(r'^<!-- figures: \w+ -->.*?^<!-- end of figures -->', re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r'\d[\d,.]* ?(?:ns|µs|us|[GM]B/s|Mmsg/s|M/s)\b|'
                    r'\d[\d,.]* times as (?:fast|long|good|slow)')

# Pages that may show figures, and why.
PRINTED = 'shows what a program prints'
TIMER = 'names a timer of the protocol'
ALLOWED = {
    'README.md': 'says for whom 100 ns matter',
    'observing.md': PRINTED,
    'datagram.md': TIMER, 'progress.md': TIMER, 'transports.md': TIMER,
}


def typed(text):
    """What looks like a figure outside of regions."""
    return [match.group().strip() for match in FIGURE.finditer(REGION.sub('', text))]


class Pages(unittest.TestCase):
    def test_no_page_has_a_figure_that_was_typed(self):
        found = {path.name: typed(path.read_text()) for path in [ROOT / 'README.md', *(ROOT / 'docs').glob('*.md')]}
        wrong = {name: figures for name, figures in found.items() if figures and name not in ALLOWED}
        self.assertEqual(wrong, {}, 'link to docs/measured.md instead, or put a region there (docs/contributing.md)')
        needless = [name for name in ALLOWED if not found.get(name)]
        self.assertEqual(needless, [], 'these pages have no figures, and need no permission')


class Figures(unittest.TestCase):
    def test_figures_are_found(self):
        for text in ('takes 34 ns', '5.4 GB/s', '1,200 MB/s', '7.7 us', '6.92 µs there', '48 M/s', '2.2 times as long'):
            self.assertEqual(len(typed(text)), 1, text)

    def test_settings_and_sizes_are_none(self):
        for text in ('within 30 s', '64 KiB', 'after 10 minutes', '8 bytes', 'three times as many'):
            self.assertEqual(typed(text), [], text)

    def test_regions_are_left_alone(self):
        self.assertEqual(typed('<!-- figures: rate -->\n34 ns\n<!-- end of figures -->\n35 ns'), ['35 ns'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
