"""What ./measure makes of figures, against what is worked out by hand."""

import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import text  # noqa: E402
from chapters import split_limit, time_of  # noqa: E402
from figures import LIMIT, OURS, Figures, Question, Rounds  # noqa: E402
from main import Schedule  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from papers import jacobi  # noqa: E402


def rounds_of(*rounds, better='less', x='bytes', peers=('A', 'B')):
    """A round is a list of (case, who, value[, setting]), all of one question."""
    collected = Rounds([Question('q', 'Title', 'ns' if better == 'less' else 'M/s', better, x, 'What?', peers)])
    for one in rounds:
        for case, who, value, *setting in one:
            collected.add('q', case, who, value, *setting)
        collected.end_round()
    return collected


def figures_of(*rounds, **options):
    collected = rounds_of(*rounds, **options)
    return Figures(collected._questions.values(), collected.rows())


class ARow(unittest.TestCase):
    def test_of_times_the_least_of_all_rounds_counts_and_the_scatter_is_that_of_the_worst(self):
        figures = figures_of([('8', OURS, 3.0), ('8', OURS, 2.5)], [('8', OURS, 2.0)], [('8', OURS, 4.0)])
        row = figures.best('q', '8', OURS)
        self.assertEqual((row.value, row.rounds, row.scatter), (2.0, 3, 2.0))
        self.assertEqual(text.figure(figures, row), '2.00 ns +100 %')

    def test_of_rates_the_highest_counts(self):
        figures = figures_of([('8', OURS, 4.0)], [('8', OURS, 5.0)], better='more')
        self.assertEqual(text.figure(figures, figures.best('q', '8', OURS)), '5.00 M/s −20 %')

    def test_a_round_without_a_figure_is_said(self):
        figures = figures_of([('8', OURS, 3.0), ('8', 'A', 1.0)], [('8', OURS, 2.0)], peers=('A',))
        self.assertEqual([row.status for row in figures.rows], ['ok', 'lost'])
        self.assertIn('1 of 2 rounds gave no figure', next(text.not_ok(figures)))

    def test_a_contender_that_gave_nothing_is_lost_slow_or_not_run(self):
        collected = rounds_of([('8', OURS, 3.0), ('64', OURS, 3.0), ('64', 'A', 9.0)])
        self.assertEqual([(row.case, row.who, row.status) for row in collected.rows() if row.status != 'ok'],
                         [('8', 'A', 'lost'), ('8', 'B', 'lost'), ('64', 'B', 'lost')])
        collected.slow('q', 'A')  # one program of it
        collected.cannot_run('q', 'B', 'it is not installed')
        self.assertEqual([(row.case, row.who, row.status, row.value) for row in collected.rows() if row.status != 'ok'],
                         [('8', 'A', 'slow', None), ('8', 'B', 'not run', None), ('64', 'B', 'not run', None)])

    def test_a_figure_that_only_a_peer_has_is_not_dropped(self):
        figures = figures_of([('8', 'A', 1.0)], peers=('A',))
        self.assertEqual(figures.best('q', '8', OURS).status, 'lost')
        self.assertEqual(figures.balance(), (0, 0, 0, 1))

    def test_a_setting_that_is_too_slow_has_a_row_beside_one_that_is_not(self):
        collected = rounds_of([('8', OURS, 3.0), ('8', 'A', 9.0)], peers=('A',))
        collected.slow('q', 'A', 'tuned')
        self.assertEqual([(row.setting, row.status) for row in collected.rows() if row.who == 'A'],
                         [('default', 'ok'), ('tuned', 'slow')])

    def test_every_setting_has_a_row_and_the_best_counts(self):
        figures = figures_of([('8', OURS, 3.0), ('8', 'A', 9.0), ('8', 'A', 4.0, 'tuned')], peers=('A',))
        self.assertEqual(len(figures.of('q', '8', 'A')), 2)
        self.assertEqual(figures.best_peer('q', '8').setting, 'tuned')
        self.assertEqual(text.cell(figures, 'q', '8', 'A'), '4.00 ns (tuned; default 9.00 ns)')


class Comparisons(unittest.TestCase):
    def test_a_ratio_above_one_is_always_ours_ahead(self):
        row = [('8', OURS, 2.0), ('8', 'A', 3.0), ('8', 'B', 5.0)]
        times, rates = figures_of(row), figures_of(row, better='more')
        self.assertEqual(times.best_peer('q', '8').against, 1.5)
        self.assertEqual(rates.best_peer('q', '8').against, 0.4)

    def test_each_round_is_compared_with_itself_and_the_median_counts(self):
        near, far = [('8', OURS, 1.0), ('8', 'A', 2.0)], [('8', OURS, 10.0), ('8', 'A', 5.0)]
        figures = figures_of(near, far, [('8', OURS, 12.0), ('8', 'A', 6.0)], peers=('A',))
        self.assertEqual(figures.best_peer('q', '8').against, 0.5)
        self.assertEqual(figures.behind()[0][0], 0.5)
        self.assertEqual(text.table(figures, 'q')[1][-1], '0.50')

    def test_a_round_without_one_of_both_is_not_compared(self):
        figures = figures_of([('8', OURS, 1.0)], [('8', 'A', 1.0)], [('8', OURS, 3.0), ('8', 'A', 6.0)], peers=('A',))
        self.assertEqual(figures.best_peer('q', '8').against, 2.0)

    def test_ours_is_at_its_best_setting_in_each_round_and_the_other_at_that_which_is_hardest_to_beat(self):
        one = [('8', OURS, 4.0), ('8', OURS, 2.0, 'other'), ('8', 'A', 3.0), ('8', 'A', 8.0, 'tuned')]
        two = [('8', OURS, 1.0), ('8', OURS, 2.0, 'other'), ('8', 'A', 3.0), ('8', 'A', 0.5, 'tuned')]
        figures = figures_of(one, two, peers=('A',))
        self.assertEqual([row.against for row in figures.of('q', '8', 'A')], [2.25, 2.25])
        self.assertEqual([row.against for row in figures.of('q', '8', OURS)], [None, None])

    def test_losses_are_worst_first_and_know_nothing_of_the_limit(self):
        figures = figures_of([('8', OURS, 2.0), ('8', 'A', 1.0), ('64', OURS, 4.0), ('64', 'A', 1.0),
                              ('512', OURS, 1.0), ('512', 'A', 0.98), ('512', LIMIT, 0.1)])
        self.assertEqual([(one[0], one[2]) for one in figures.behind()], [(0.25, '64'), (0.5, '8')])

    def test_what_no_peer_could_do_counts_as_not_compared(self):
        figures = figures_of([('8', OURS, 2.0), ('8', 'A', 1.0), ('64', OURS, 1.0), ('64', 'A', 4.0),
                              ('512', OURS, 1.0), ('512', 'A', 0.98), ('1', OURS, 1.0)])
        self.assertEqual(figures.balance(), (1, 1, 1, 1))

    def test_sizes_are_in_order_and_others_as_they_came(self):
        row = [('64', OURS, 1.0), ('8', OURS, 1.0), ('512', OURS, 1.0)]
        self.assertEqual(figures_of(row).cases('q'), ['8', '64', '512'])
        self.assertEqual(figures_of(row, x='').cases('q'), ['64', '8', '512'])


class Settings(unittest.TestCase):
    def table(self, question, *rows):
        collected = Rounds(QUESTIONS)
        for case, setting, value in rows:
            collected.add(question, case, OURS, value, setting)
        collected.end_round()
        return text.form(Figures(QUESTIONS, collected.rows()), question)

    def test_what_channels_gain_is_of_the_time_with_messages(self):
        heads, two, four, published = self.table(
            'papers_jacobi', ('2', 'messages', 2e6), ('2', 'channels', 1.5e6), ('4', 'channels', 1e6),
            ('4', 'messages', 9e5))
        self.assertEqual(heads, ['', 'messages', 'channels', 'gain of channels'])
        self.assertEqual(two, ['2', '2.00 ms', '1.50 ms', '25.0 %'])
        self.assertEqual(four[-1], '−11.1 %')
        self.assertEqual(published[1:], ['–', '–', 'about 12 %'])

    def test_what_is_published_of_a_row_stands_in_it(self):
        heads, row, *others = self.table('papers_gauss', ('800 equations, 5 exchanges', 'spin', 300.0))
        self.assertEqual(row, ['800 equations, 5 exchanges', '300 ns', '646,682', '79 µs', '48 µs'])
        self.assertEqual([other[1] for other in others], ['–'] * 3)

    def test_single_accesses_are_compared_with_the_aggregator(self):
        heads, row, *others = self.table('conveyors', ('histogram', 'plain', 76.0), ('histogram', 'aggregator', 2.0))
        self.assertEqual((heads[-1], row[-1]), ('plain / aggregator', '38.0'))
        self.assertEqual([other[-1] for other in others], ['38', '8', '37', '10'])

    def test_efficiency_is_what_a_process_does_of_what_one_does_alone(self):
        collected = Rounds(QUESTIONS)
        for who, place, ns in ((OURS, '1 process', 2.0), (OURS, '2 processes', 1.25), (OURS, '4 nodes', 1.0),
                               ('Open MPI', '2 processes', 2.5), ('MPICH', '2 processes', 5.0)):
            collected.add('scaling_strong', f'prk dgemm (a Flop), {place}', who, ns)
        collected.add('scaling_strong', 'prk pic (a move), 2 processes', OURS, 50.0)
        collected.end_round()
        self.assertEqual(text.form(Figures(QUESTIONS, collected.rows()), 'scaling_strong'), [
            ['', '1 process', '2 processes', '4 nodes'],
            ['prk dgemm (a Flop)', '500 · –', '800 · 80 % · 2.00', '1,000 · 50 % · –'],
            ['prk pic (a move)', '–', '20.0 · –', '–']])

    def test_ways_that_are_no_messages_and_channels_gain_nothing(self):
        self.assertEqual(self.table('papers_ways', ('EM3D', 'messages', 2.0), ('EM3D', 'memory', 1.0))[0],
                         ['', 'messages', 'memory'])


class Programs(unittest.TestCase):
    def test_limits_and_ratios_of_benchmarks_are_told_apart(self):
        self.assertEqual(split_limit('store'), ('store', OURS))
        self.assertEqual(split_limit('store:limit'), ('store', LIMIT))
        self.assertEqual(split_limit('store:ratio'), ('store', None))

    def test_units_of_applications_become_times(self):
        self.assertEqual(time_of(2.0, 'us an iteration'), (2000.0, 'an iteration'))
        self.assertEqual(time_of(4.0, 'ms'), (4e6, ''))
        self.assertEqual(time_of(50.0, 'million keys/s'), (20.0, 'a key'))
        self.assertEqual(time_of(50.0, 'million updates/s'), (20.0, 'an update'))
        self.assertEqual(time_of(50.0, 'million entries/s'), (20.0, 'an entry'))
        self.assertEqual(time_of(2.0, 'GFlop/s'), (0.5, 'a Flop'))
        self.assertEqual(time_of(500.0, 'MB/s'), (2.0, 'a byte'))
        with self.assertRaisesRegex(ValueError, 'neither a time nor a rate'):
            time_of(1.0, 'furlongs')

    def test_the_ways_of_an_application_become_settings(self):
        class Machine:
            def amount(self, *efforts):
                return efforts[-1]

            def job(self, processes, *command, **variables):
                asked.append((processes, *command[3:4]))
                return 'with\nmessages  9.0  0123456789abcdef\nchannels  8.0  0123456789abcdef\n'
        asked, rounds = [], Rounds(QUESTIONS)
        jacobi(Machine(), rounds)
        rounds.end_round()
        rows = list(rounds.rows())
        self.assertEqual(asked, [(count, '1024x1024x512') for count in (1, 2, 4, 8)])
        self.assertEqual([(row.setting, row.value) for row in rows], [('messages', 9e3), ('channels', 8e3)] * 4)
        self.assertEqual(rows[2].case, '1024 x 1024 x 512, 2 processes')

    def test_every_question_has_a_name_of_its_own(self):
        self.assertEqual(len({question.id for question in QUESTIONS}), len(QUESTIONS))


class ASchedule(unittest.TestCase):
    def run_all(self, took, seconds, rounds):
        """The chapters in their order, by a clock that only they advance."""
        clock, order = [0.0], []
        schedule = Schedule(took, seconds, rounds, now=lambda: clock[0])
        while name := schedule.next():
            order.append(name)
            clock[0] += took[name]
            schedule.done(name, took[name])
        return order, clock[0]

    def test_chapters_take_turns_and_short_ones_fill_the_time(self):
        order, end = self.run_all({'long': 6, 'short': 1}, 17, 9)
        self.assertEqual(order, ['long', 'short', 'long', 'short', 'short', 'short', 'short'])
        self.assertLessEqual(end, 17)

    def test_each_has_one_round_however_little_time_there_is(self):
        self.assertEqual(self.run_all({'a': 60, 'b': 60}, 1, 9)[0], ['a', 'b'])

    def test_no_chapter_has_more_rounds_than_are_wanted(self):
        self.assertEqual(self.run_all({'a': 1}, 1000, 3)[0], ['a'] * 3)


if __name__ == '__main__':
    unittest.main(verbosity=2)
