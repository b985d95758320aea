"""What has been measured: the rounds of a run, the rows that come of them, and what rows say."""

import collections
import statistics

# A question and how its figures are shown.
#   id, title; unit; better: 'less' or 'more'; x: what the cases are, 'bytes' or ''; text: what is asked;
#   peers: the other libraries that are asked as well
Question = collections.namedtuple('Question', 'id title unit better x text peers')

# One figure: `value` is the best of `rounds` rounds, or None; `scatter` is by how much the worst round was
# worse (1.2: by a fifth); `status` is one of STATUSES, `note` says why it is not 'ok'.
Row = collections.namedtuple('Row', 'question case who setting value rounds scatter status note')

OURS = 'Splitphase'
LIMIT = 'by hand'
DEFAULT = 'default'
OTHER_WAY = 'ours, '  # begins the name of another way of ours, which is no other library
#   ok: each round gave a figure      slow: a run was ended because it took too long
#   lost: a round gave no figure      not run: it was left out, and the note says why
STATUSES = ('ok', 'slow', 'lost', 'not run')
LEVEL = 0.03  # closer figures are called level


def best_of(question):
    return min if question.better == 'less' else max


class Rounds:
    """Collects the figures of a run, round by round."""

    def __init__(self, questions):
        self._questions = {question.id: question for question in questions}
        self._figures = {}  # (question, case, who, setting): a figure of each round
        self._round = {}  # those of this round
        self._made = collections.Counter()  # rounds, by question
        self._slow = set()  # (question, who, setting or None)
        self._reasons = {}  # (question, who, the end of the case): why it was not run

    def add(self, question, case, who, value, setting=DEFAULT):
        """In one round the best of several counts."""
        key = (question, case, who, setting)
        values = [value] + ([self._round[key]] if key in self._round else [])
        self._round[key] = best_of(self._questions[question])(values)

    def slow(self, question, who, setting=None):
        """A run of `who` was ended because it took too long; None: of one setting or another."""
        self._slow.add((question, who, setting))

    def cannot_run(self, question, who, reason, end=''):
        """`who` does not run the cases whose name ends with `end`."""
        self._reasons[question, who, end] = reason

    def cases_now(self, question):
        """Of this round so far."""
        return list(dict.fromkeys(case for q, case, *_ in self._round if q == question))

    def end_round(self):
        self._made.update({question for question, *_ in self._round})
        for key, value in self._round.items():
            self._figures.setdefault(key, []).append(value)
        self._round = {}

    def rows(self):
        for (question, case, who, setting), values in self._figures.items():
            best, made = best_of(self._questions[question])(values), self._made[question]
            scatter = max(max(values) / best, best / min(values))
            status, note = 'ok', ''
            if len(values) < made:
                status = 'slow' if self._was_slow(question, who, setting) else 'lost'
                note = f'{made - len(values)} of {made} rounds gave no figure'
            yield Row(question, case, who, setting, best, len(values), scatter, status, note)
        for question in self._questions.values():
            for case in dict.fromkeys(key[1] for key in self._figures if key[0] == question.id):
                yield from self._missing(question, case)

    def _was_slow(self, question, who, setting):
        return not {(question, who, setting), (question, who, None)}.isdisjoint(self._slow)

    def _missing(self, question, case):
        """A row for ours and each peer that has no figure of this case, and for each setting that was too slow for one."""
        here = {key[2:] for key in self._figures if key[:2] == (question.id, case)}
        for who in (OURS, *question.peers):
            slow = [setting for q, peer, setting in self._slow if (q, peer) == (question.id, who)]
            for setting in sorted(filter(None, slow)):
                if (who, setting) not in here:
                    yield Row(question.id, case, who, setting, None, 0, 1, 'slow', 'ended before it gave a figure')
            if any(peer == who for peer, _ in here) or any(slow):
                continue
            reasons = [text for (q, peer, end), text in self._reasons.items()
                       if (q, peer) == (question.id, who) and case.endswith(end)]
            status = 'not run' if reasons else 'slow' if slow else 'lost'
            yield Row(question.id, case, who, DEFAULT, None, 0, 1, status,
                      reasons[0] if reasons else 'ended without a figure')


class Figures:
    """Rows, and what follows from them."""

    def __init__(self, questions, rows):
        self.questions = {question.id: question for question in questions}
        self.rows = list(rows)
        self._of = {}  # (question, case, who): its rows
        for row in self.rows:
            self._of.setdefault(row[:3], []).append(row)

    def cases(self, question):
        """In the order in which they came; bytes by size."""
        found = list(dict.fromkeys(case for q, case, _ in self._of if q == question))
        return sorted(found, key=float) if self.questions[question].x == 'bytes' else found

    def who(self, question):
        """Ours, the limit, and the others."""
        found = list(dict.fromkeys(who for q, _, who in self._of if q == question))
        return sorted(found, key=lambda who: (who != OURS, who != LIMIT))

    def of(self, question, case, who):
        """All settings."""
        return self._of.get((question, case, who), [])

    def best(self, question, case, who):
        """The row of the best setting; one without a value if there is no other; or None."""
        rows = self.of(question, case, who)
        measured = [row for row in rows if row.value is not None]
        better = best_of(self.questions[question])
        return better(measured, key=lambda row: row.value) if measured else rows[0] if rows else None

    def value(self, question, case, who):
        row = self.best(question, case, who)
        return row and row.value

    def peers(self, question):
        return [who for who in self.who(question) if who not in (OURS, LIMIT)]

    def best_peer(self, question, case):
        """The row of the best peer that has a figure, or None."""
        rows = [self.best(question, case, who) for who in self.peers(question) if not who.startswith(OTHER_WAY)]
        rows = [row for row in rows if row and row.value is not None]
        return best_of(self.questions[question])(rows, key=lambda row: row.value) if rows else None

    def times_as_good(self, question, case, other):
        """By how much ours is better than the figure `other`; below 1 it is worse."""
        ours = self.value(question, case, OURS)
        if not ours or not other:
            return None
        return other / ours if self.questions[question].better == 'less' else ours / other

    def beside_peers(self):
        """(ratio, question, case, the best peer's row) of all that a peer could do; the ratio is None, and the
        row, where none has a figure."""
        for question in self.questions:
            for case in self.cases(question) if self.questions[question].peers else ():
                peer = self.best_peer(question, case)
                yield self.times_as_good(question, case, peer and peer.value), question, case, peer

    def behind(self):
        """What a peer does better: as beside_peers(), worst first."""
        found = [one for one in self.beside_peers() if one[0] and one[0] < 1 - LEVEL]
        return sorted(found, key=lambda one: one[0])

    def balance(self):
        """How many of what a peer could do: ahead, level, behind, not compared."""
        ratios = [ratio for ratio, *_ in self.beside_peers()]
        known = [ratio for ratio in ratios if ratio]
        ahead, behind = sum(r > 1 + LEVEL for r in known), sum(r < 1 - LEVEL for r in known)
        return ahead, len(known) - ahead - behind, behind, len(ratios) - len(known)

    def rounds(self):
        """How many most figures are of."""
        rounds = [row.rounds for row in self.rows if row.value is not None]
        return statistics.mode(rounds) if rounds else 0

    def not_ok(self):
        return [row for row in self.rows if row.status != 'ok']
