"""What ./measure says of figures, against what is worked out by hand."""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
from chapters import QUESTIONS, split_limit  # noqa: E402
from figures import LIMIT, OURS, Figures, Question  # noqa: E402
from page import page  # noqa: E402


def figures_of(*rounds, better='less', x='bytes'):
    """A round is a list of (case, who, value), all of one question."""
    figures = Figures([Question('q', 'Title', 'us', better, x, 'What?')])
    for one in rounds:
        for case, who, value in one:
            figures.add('q', case, who, value)
        figures.end_round()
    return figures


class FiguresTest(unittest.TestCase):
    def test_of_times_the_least_of_all_rounds_counts(self):
        figures = figures_of([('8', OURS, 3.0), ('8', OURS, 2.5)], [('8', OURS, 2.0)], [('8', OURS, 4.0)])
        self.assertEqual(figures.value('q', '8', OURS), 2.0)

    def test_of_rates_the_highest_counts(self):
        figures = figures_of([('8', OURS, 3.0)], [('8', OURS, 5.0)], better='more')
        self.assertEqual(figures.value('q', '8', OURS), 5.0)

    def test_a_ratio_above_one_is_always_ours_ahead(self):
        row = [('8', OURS, 2.0), ('8', 'A', 3.0), ('8', 'B', 5.0)]
        times, rates = figures_of(row), figures_of(row, better='more')
        self.assertEqual(times.best_peer('q', '8'), ('A', 3.0))
        self.assertEqual(times.times_as_good('q', '8', 3.0), 1.5)
        self.assertEqual(rates.best_peer('q', '8'), ('B', 5.0))
        self.assertEqual(rates.times_as_good('q', '8', 5.0), 0.4)

    def test_behind_lists_where_a_peer_is_ahead_worst_first(self):
        figures = figures_of([('8', OURS, 2.0), ('8', 'A', 1.0), ('64', OURS, 4.0), ('64', 'A', 1.0),
                              ('512', OURS, 1.0), ('512', 'A', 0.98), ('512', LIMIT, 0.1)])
        self.assertEqual(figures.behind(), [(0.25, 'q', '64', 'A'), (0.5, 'q', '8', 'A')])

    def test_the_page_counts_where_ours_is_ahead_level_and_behind(self):
        figures = figures_of([('8', OURS, 2.0), ('8', 'A', 1.0), ('64', OURS, 1.0), ('64', 'A', 4.0),
                              ('512', OURS, 1.0), ('512', 'A', 0.98), ('1', OURS, 1.0)])
        self.assertIn('Of 3 figures that another has as well, ours is ahead of the best of them in 1, level '
                      'in 1 (within 3 %), and behind in 1,', page(figures, [], [], [], []))

    def test_rounds_that_differ_are_marked(self):
        steady = figures_of(*[[('8', OURS, value)] for value in (1.0, 1.1, 1.15, 9.0)])
        unsteady = figures_of(*[[('8', OURS, value)] for value in (1.0, 1.5, 1.6)])
        self.assertFalse(steady.unsteady('q', '8', OURS))
        self.assertTrue(unsteady.unsteady('q', '8', OURS))
        self.assertIn('1 ~</td>', page(unsteady, [], [], [], []))

    def test_sizes_are_in_order_and_others_as_they_came(self):
        row = [('64', OURS, 1.0), ('8', OURS, 1.0), ('512', OURS, 1.0)]
        self.assertEqual(figures_of(row).cases('q'), ['8', '64', '512'])
        self.assertEqual(figures_of(row, x='').cases('q'), ['64', '8', '512'])

    def test_the_csv_has_every_round(self):
        figures = figures_of([('8', OURS, 3.0)], [('8', OURS, 2.0), ('8', 'A', 1.0)])
        self.assertEqual(figures.csv().splitlines()[1:],
                         [f'q,8,{OURS},us,less,1,3', f'q,8,{OURS},us,less,2,2', 'q,8,A,us,less,1,1'])

    def test_a_csv_that_is_read_is_the_one_that_was_written(self):
        figures = figures_of([('barrier, 2 processes', OURS, 3.0)], [('barrier, 2 processes', OURS, 2.0)], x='')
        again = Figures(figures.questions.values())
        again.read_csv(figures.csv())
        self.assertEqual(again.csv(), figures.csv())
        self.assertEqual(again.cases('q'), ['barrier, 2 processes'])
        self.assertEqual(again.rounds(), 2)

    def test_some_cases_alone(self):
        figures = figures_of([('8', OURS, 3.0), ('64', OURS, 4.0)]).only([('q', '64')])
        self.assertEqual(figures.cases('q'), ['64'])

    def test_what_is_not_there_is_left_open(self):
        figures = figures_of([('8', OURS, 3.0), ('64', OURS, 3.0), ('64', 'A', 6.0)])
        self.assertIsNone(figures.value('q', '8', 'A'))
        self.assertIn('&ndash;', page(figures, [], [], [], []))
        self.assertIn('Nowhere by more', page(figures, [], [], [], []))

    def test_texts_are_escaped(self):
        text = page(figures_of([('8', OURS, 3.0)]), [('<machine>', 'a & b')], ['d > e'], ['x < y'], ['<p>'])
        self.assertIn('&lt;machine&gt;', text)
        self.assertIn('x &lt; y', text)
        self.assertIn('d &gt; e', text)
        self.assertNotIn('<machine>', text)


class ChaptersTest(unittest.TestCase):
    def test_limits_and_ratios_of_benchmarks_are_told_apart(self):
        self.assertEqual(split_limit('store'), ('store', OURS))
        self.assertEqual(split_limit('store:limit'), ('store', LIMIT))
        self.assertEqual(split_limit('store:ratio'), ('store', None))

    def test_every_question_has_one_direction(self):
        self.assertEqual(len({question.id for question in QUESTIONS}), len(QUESTIONS))
        for question in QUESTIONS:
            self.assertIn(question.better, ('less', 'more'))


if __name__ == '__main__':
    unittest.main(verbosity=2)
