"""What has been measured: the rounds of a run, the rows that come of them, and what rows say."""

import collections
import statistics

# A question and how its figures are shown.
#   id, title; unit; better: 'less' or 'more'; x: what the cases are, 'bytes' or ''; text: what is asked;
#   peers: the other libraries that are asked as well
Question = collections.namedtuple('Question', 'id title unit better x text peers')

# One figure: `value` is the best of `rounds` rounds, or None; `scatter` is by how much the worst round was
# worse (1.2: by a fifth); `against` is by how much ours was better, at its best setting in the same round: the
# median of the rounds that have both, or None; `status` is one of STATUSES, `note` says why it is not 'ok'.
Row = collections.namedtuple('Row', 'question case who setting value rounds scatter against status note')

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
        self._figures = {}  # (question, case, who, setting): a figure of each round, by its number
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
            self._figures.setdefault(key, {})[self._made[key[0]]] = value
        self._round = {}

    def rows(self):
        ours = self._best_of_ours()
        for (question, case, who, setting), by_round in self._figures.items():
            values = list(by_round.values())
            best, made = best_of(self._questions[question])(values), self._made[question]
            scatter = max(max(values) / best, best / min(values))
            status, note = 'ok', ''
            if len(values) < made:
                status = 'slow' if self._was_slow(question, who, setting) else 'lost'
                note = f'{made - len(values)} of {made} rounds gave no figure'
            against = None if who == OURS else self._against(question, by_round, ours.get((question, case), {}))
            yield Row(question, case, who, setting, best, len(values), scatter, against, status, note)
        for question in self._questions.values():
            for case in dict.fromkeys(key[1] for key in self._figures if key[0] == question.id):
                yield from self._missing(question, case)

    def _best_of_ours(self):
        """The figure of each round, by its number, by (question, case)."""
        found = {}
        for (question, case, who, _), by_round in self._figures.items():
            if who == OURS:
                best = found.setdefault((question, case), {})
                for number, value in by_round.items():
                    best[number] = best_of(self._questions[question])(best.get(number, value), value)
        return found

    def _against(self, question, theirs, ours):
        """A round is compared with itself: from one to the next the cores may be near each other, or far."""
        both = [(theirs[number], ours[number]) for number in theirs.keys() & ours.keys()]
        less = self._questions[question].better == 'less'
        return statistics.median(a / b if less else b / a for a, b in both) if both else None

    def _was_slow(self, question, who, setting):
        return not {(question, who, setting), (question, who, None)}.isdisjoint(self._slow)

    def _missing(self, question, case):
        """A row for ours and each peer that has no figure of this case, and for each setting that was too slow for one."""
        here = {key[2:] for key in self._figures if key[:2] == (question.id, case)}
        for who in (OURS, *question.peers):
            slow = [setting for q, peer, setting in self._slow if (q, peer) == (question.id, who)]
            for setting in sorted(filter(None, slow)):
                if (who, setting) not in here:
                    yield Row(question.id, case, who, setting, None, 0, 1, None, 'slow',
                              'ended before it gave a figure')
            if any(peer == who for peer, _ in here) or any(slow):
                continue
            reasons = [text for (q, peer, end), text in self._reasons.items()
                       if (q, peer) == (question.id, who) and case.endswith(end)]
            status = 'not run' if reasons else 'slow' if slow else 'lost'
            yield Row(question.id, case, who, DEFAULT, None, 0, 1, None, status,
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
        return self._best_of(rows) or (rows[0] if rows else None)

    def _best_of(self, rows):
        """Of those with a value, or None: that which ours is worst against; if none is compared, the best value."""
        measured = [row for row in rows if row.value is not None]
        compared = [row for row in measured if row.against is not None]
        if compared:
            return min(compared, key=lambda row: row.against)
        return best_of(self.questions[rows[0].question])(measured, key=lambda row: row.value) if measured else None

    def peers(self, question):
        return [who for who in self.who(question) if who not in (OURS, LIMIT)]

    def best_peer(self, question, case):
        """The row of the best peer that has a figure, or None."""
        peers = [who for who in self.peers(question) if not who.startswith(OTHER_WAY)]
        return self._best_of([row for who in peers for row in self.of(question, case, who)])

    def beside_peers(self):
        """(ratio, question, case, the best peer's row) of all that a peer could do; the ratio is None, and the
        row, where none has a figure."""
        for question in self.questions:
            for case in self.cases(question) if self.questions[question].peers else ():
                peer = self.best_peer(question, case)
                yield peer and peer.against, question, case, peer

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
