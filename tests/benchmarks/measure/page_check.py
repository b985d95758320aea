"""page_check.py PAGE FIGURES QUESTION...: that a page of ./measure is whole, and has these questions and the
figures of the file."""

import csv
import html.parser
import sys


class Reader(html.parser.HTMLParser):
    VOID = {'meta', 'br', 'path', 'use'}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.cells, self.csv, self.outside = [], [], 0, '', []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if 'id' in attributes:
            self.ids.append(attributes['id'])
        self.cells += tag == 'td'
        for name in ('src', 'href', 'xlink:href'):
            value = attributes.get(name, '')
            if value and not value.startswith(('data:', '#')):
                self.outside.append(value)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, f'</{tag}> where {self.open[-3:]} is open'
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == 'pre':
            self.csv += data


def main():
    text, figures = (open(name).read() for name in sys.argv[1:3])
    reader = Reader()
    reader.feed(text)
    assert not reader.open, f'not closed: {reader.open}'
    assert not reader.outside, f'needs other files: {reader.outside}'
    assert reader.csv == figures, 'the figures that are shown are not those of the file'
    rows = list(csv.DictReader(line for line in figures.splitlines() if not line.startswith('# ')))
    for question in sys.argv[3:]:
        assert question in reader.ids, f'{question} is not on the page'
        ours = [row for row in rows if row['chapter'] == question and row['who'] == 'Splitphase']
        assert ours, f'{question}: nothing of ours'
        assert all(float(row['value']) > 0 and row['status'] == 'ok' for row in ours), question
    # What was measured is shown: each case of each contender has a cell.
    assert reader.cells > len({(row['chapter'], row['row'], row['who']) for row in rows}), 'figures are missing'
    print(f'{len(rows)} figures in {reader.cells} cells')


if __name__ == '__main__':
    main()
