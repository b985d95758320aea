#!/usr/bin/env python3
"""readme_test.py FIGURES_PY README FIGURES CHART: that the README's figures and its chart are those of the
file, and what is made of the figures of any other."""

import pathlib
import sys
import unittest

script, *files = sys.argv[1:]
del sys.argv[1:]
PAGE, FIGURES, CHART = (pathlib.Path(file).read_text() for file in files)
sys.path.insert(0, str(pathlib.Path(script).parent))
import readme  # noqa: E402

HEAD = ('# processor: P\n# system: S\n# compiler: C\n# cache line: 80 to 90\n# UCX: 1.2\n'
        'question,case,who,unit,better,round,value\n')


def source(*rows):
    """Of rows QUESTION,CASE,WHO,UNIT,BETTER,ROUND,VALUE."""
    return readme.Source(HEAD + ''.join(row + '\n' for row in rows))


class TheReadme(unittest.TestCase):
    def test_its_figures_are_those_of_the_file(self):
        self.assertEqual(readme.rewritten(PAGE, readme.Source(FIGURES)), PAGE)

    def test_its_chart_is_of_the_same_figures(self):
        self.assertEqual(readme.chart(readme.Source(FIGURES)), CHART)

    def test_every_row_has_a_figure_of_ours_and_of_the_limit(self):
        rows = [row.split(' | ') for row in readme.table(readme.Source(FIGURES).figures).splitlines()[2:]]
        self.assertTrue(rows)
        for row in rows:
            self.assertRegex(row[1], r'\d')
            self.assertRegex(row[2], r'\d')

    def test_the_file_is_as_it_is_written(self):
        file = readme.Source(FIGURES)
        self.assertEqual(readme.source_text(file.facts.items(), file.figures), FIGURES)


class AnyFigures(unittest.TestCase):
    def test_another_figure_changes_the_page(self):
        changed = readme.Source(FIGURES)
        changed.figures.add('round_trip_node', '8', readme.OURS, 1.0)
        changed.figures.end_round()
        self.assertNotEqual(readme.rewritten(PAGE, changed), PAGE)

    def test_a_row_has_the_least_of_ours_of_the_limit_and_of_the_best_other(self):
        figures = source('round_trip_node,8,Splitphase,ns,less,1,200', 'round_trip_node,8,Splitphase,ns,less,2,136.4',
                         'round_trip_node,8,by hand,ns,less,1,90', 'round_trip_node,8,UCX,ns,less,1,300',
                         'round_trip_node,8,Open MPI,ns,less,1,250').figures
        self.assertIn('| one node: short request and reply | 136 ns | 90 ns | 250 ns, Open MPI |',
                      readme.table(figures))

    def test_what_was_not_measured_has_no_row(self):
        self.assertEqual(len(readme.table(source().figures).splitlines()), 2)

    def test_others_are_ahead_only_where_they_are(self):
        figures = source('round_trip_tcp,8,Splitphase,us,less,1,20', 'round_trip_tcp,8,UCX,us,less,1,10',
                         'round_trip_tcp,4096,Splitphase,us,less,1,10', 'round_trip_tcp,4096,UCX,us,less,1,20').figures
        self.assertEqual(readme.losses(figures).splitlines(),
                         ['- Short messages there and back over TCP: ours 20 µs, UCX 10 µs.'])

    def test_the_three_furthest_behind_are_shown_worst_first(self):
        rows = []
        for i, (question, case, _) in enumerate(readme.LOSSES):
            rows += [f'{question},"{case}",Splitphase,us,less,1,{20 + i}', f'{question},"{case}",UCX,us,less,1,10']
        lines = readme.losses(source(*rows).figures).splitlines()
        self.assertEqual([line.partition(': ours ')[2] for line in lines],
                         [f'{20 + i} µs, UCX 10 µs.' for i in range(len(readme.LOSSES) - 1, len(readme.LOSSES) - 4, -1)])

    def test_small_and_large_numbers(self):
        figures = source().figures
        self.assertEqual(readme.shown(figures, 'round_trip_tcp', 0.2651), '265 ns')
        self.assertEqual(readme.shown(figures, 'round_trip_node', 1555.6), '1,556 ns')
        self.assertEqual(readme.shown(figures, 'round_trip_node', None), '–')

    def test_bars_are_as_long_as_their_figures(self):
        chart = readme.chart(source('round_trip_node,8,Splitphase,ns,less,1,100',
                                    'round_trip_node,8,UCX,ns,less,1,400'))
        self.assertIn('width="120" height="22" fill="#c00000"', chart)
        self.assertIn('width="480" height="22" fill="#1f5fbf"', chart)

    def test_a_page_without_marks_is_refused(self):
        with self.assertRaises(ValueError):
            readme.rewritten('# A page\n', readme.Source(FIGURES))


if __name__ == '__main__':
    unittest.main(verbosity=2)
