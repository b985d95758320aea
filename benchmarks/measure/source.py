"""docs/figures.csv: the only file that has figures. It is one run on one machine."""

import csv
import io

from figures import OURS, STATUSES, Figures, Row
from questions import QUESTIONS

COLUMNS = ['chapter', 'row', 'who', 'version', 'setting', 'unit', 'value', 'rounds', 'scatter', 'against',
           'machine', 'date', 'status', 'note']


class Source:
    """The figures of a run, and `facts`: texts by name, of which 'machine' and 'date' stand in every row, and
    those that begin with 'doubt' or 'remark' are said on the pages."""

    def __init__(self, facts, rows):
        self.facts = dict(facts)
        self.figures = Figures(QUESTIONS, rows)

    def named(self, kind):
        return [text for name, text in self.facts.items() if name.startswith(kind)]

    def machine(self):
        return f'{self.facts["machine"]}, {self.facts["date"]}'

    def text(self):
        out = io.StringIO()
        constant = ('machine', 'date')
        for name, text in self.facts.items():
            if name not in constant:
                out.write(f'# {name}: {text}\n')
        lines = csv.writer(out, lineterminator='\n')
        lines.writerow(COLUMNS)
        for row in self.figures.rows:
            version = self.facts.get('commit' if row.who == OURS else row.who, '')
            value, scatter = ('', '') if row.value is None else (f'{row.value:.5g}', f'{row.scatter:.2f}')
            lines.writerow([row.question, row.case, row.who, version, row.setting,
                            self.figures.questions[row.question].unit, value, row.rounds, scatter,
                            '' if row.against is None else f'{row.against:.3g}',
                            *(self.facts[name] for name in constant), row.status, row.note])
        return out.getvalue()


def read(text):
    """Of what Source.text() has written. A file of several machines, or of unknown rows, is refused."""
    lines = text.splitlines()
    heads = [line for line in lines if line.startswith('# ')]
    facts = {'machine': '', 'date': '', **dict(line[2:].split(': ', 1) for line in heads)}
    rows, places = [], set()
    for line in csv.DictReader(lines[len(heads):]):
        places.add((line['machine'], line['date']))
        if line['status'] not in STATUSES or (line['value'] == '') != (line['rounds'] == '0'):
            raise ValueError(f'figures.csv: {line["chapter"]}, {line["row"]}, {line["who"]}: the status '
                             f'{line["status"]!r}, the value and the rounds do not fit together')
        rows.append(Row(line['chapter'], line['row'], line['who'], line['setting'],
                        float(line['value']) if line['value'] else None, int(line['rounds']),
                        float(line['scatter'] or 1), float(line['against']) if line['against'] else None,
                        line['status'], line['note']))
    if len(places) > 1:
        raise ValueError('figures.csv: rows of several machines or days; one run writes the whole file: '
                         + '; '.join(', '.join(place) for place in sorted(places)))
    for place in places:
        facts['machine'], facts['date'] = place
    return Source(facts, rows)
