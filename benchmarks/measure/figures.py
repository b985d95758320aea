"""What has been measured: figures of questions, and what is said of them."""

import collections
import csv
import io
import statistics

# A question and how its figures are shown.
#   id, title; unit; better: 'less' or 'more'; x: what the cases are, 'bytes' or ''; text: what is asked
Question = collections.namedtuple('Question', 'id title unit better x text')

OURS = 'Splitphase'
LIMIT = 'by hand'


class Figures:
    """The figures of all rounds, by question, case and who. The best of the rounds counts."""

    def __init__(self, questions):
        self.questions = {question.id: question for question in questions}
        self._rounds = {}  # (question, case, who): a figure of each round
        self._round = {}  # those of this round

    def add(self, question, case, who, value):
        """In one round the best of several counts: of several ways to do it, and of their repetitions."""
        key = (question, case, who)
        better = self._best(question)
        self._round[key] = better([self._round[key], value]) if key in self._round else value

    def cases_now(self, question):
        """Of this round so far."""
        return list(dict.fromkeys(case for q, case, _ in self._round if q == question))

    def end_round(self):
        for key, value in self._round.items():
            self._rounds.setdefault(key, []).append(value)
        self._round = {}

    def _best(self, question):
        return min if self.questions[question].better == 'less' else max

    def rounds(self):
        """How many have ended."""
        return max((len(values) for values in self._rounds.values()), default=0)

    def cases(self, question):
        """In the order in which they came; bytes by size."""
        found = list(dict.fromkeys(case for q, case, _ in self._rounds if q == question))
        return sorted(found, key=float) if self.questions[question].x == 'bytes' else found

    def who(self, question):
        """Ours, the limit, and the others."""
        found = list(dict.fromkeys(who for q, _, who in self._rounds if q == question))
        return sorted(found, key=lambda who: (who != OURS, who != LIMIT))

    def value(self, question, case, who):
        values = self._rounds.get((question, case, who))
        return None if values is None else self._best(question)(values)

    def unsteady(self, question, case, who):
        """Whether the median of the rounds is more than a fifth worse than the best."""
        values = self._rounds.get((question, case, who), [])
        if len(values) < 2:
            return False
        best, middle = self._best(question)(values), statistics.median(values)
        return best > 0 and not 0.8 <= middle / best <= 1.2

    def peers(self, question):
        return [who for who in self.who(question) if who not in (OURS, LIMIT)]

    def best_peer(self, question, case):
        """(who, value), or None."""
        all_of_them = [(self.value(question, case, who), who) for who in self.peers(question)]
        values = [(value, who) for value, who in all_of_them if value is not None]
        if not values:
            return None
        value, who = self._best(question)(values)
        return who, value

    def times_as_good(self, question, case, other):
        """By how much ours is better than the figure `other`; below 1 it is worse."""
        ours = self.value(question, case, OURS)
        if not ours or not other:
            return None
        return other / ours if self.questions[question].better == 'less' else ours / other

    def _beside_peers(self):
        """(ratio, question, case, the best peer) wherever a peer has done the same."""
        for question in self.questions:
            for case in self.cases(question):
                peer = self.best_peer(question, case)
                ratio = peer and self.times_as_good(question, case, peer[1])
                if ratio:
                    yield ratio, question, case, peer[0]

    def ratios(self):
        """By how much ours is better than the best peer, wherever there is one."""
        return [ratio for ratio, *_ in self._beside_peers()]

    def behind(self):
        """Where a peer is ahead by more than 3 in a hundred: (ratio, question, case, peer), worst first."""
        return sorted(one for one in self._beside_peers() if one[0] < 0.97)

    def csv(self):
        text = io.StringIO()
        lines = csv.writer(text, lineterminator='\n')
        lines.writerow(['question', 'case', 'who', 'unit', 'better', 'round', 'value'])
        for (question, case, who), values in self._rounds.items():
            about = self.questions[question]
            lines.writerows([question, case, who, about.unit, about.better, number, f'{value:g}']
                            for number, value in enumerate(values, 1))
        return text.getvalue()

    def only(self, cases):
        """The same of these (question, case) alone."""
        some = Figures(self.questions.values())
        some._rounds = {key: values for key, values in self._rounds.items() if key[:2] in cases}
        return some

    def read_csv(self, text):
        """What csv() has written."""
        for row in csv.DictReader(text.splitlines()):
            self._rounds.setdefault((row['question'], row['case'], row['who']), []).append(float(row['value']))
