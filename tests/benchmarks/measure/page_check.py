"""page_check.py PAGE QUESTION...: that a page of ./measure is whole, and has these questions."""

import base64
import html.parser
import re
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
    text = open(sys.argv[1]).read()
    reader = Reader()
    reader.feed(text)
    assert not reader.open, f'not closed: {reader.open}'
    assert not reader.outside, f'needs other files: {reader.outside}'
    linked = base64.b64decode(re.search(r'data:text/csv;base64,([^"]*)', text).group(1)).decode()
    assert reader.csv == linked, 'the CSV that is shown is not the one that is linked'
    rows = [line.split(',') for line in linked.splitlines()[1:]]
    for question in sys.argv[2:]:
        assert question in reader.ids, f'{question} is not on the page'
        # What was measured is shown: each figure has a cell.
        who = {row[-5] for row in rows if row[0] == question}
        assert 'Splitphase' in who, f'{question}: nothing of ours'
        assert all(float(row[-1]) > 0 for row in rows if row[0] == question), question
    assert reader.cells > len({tuple(row[:-2]) for row in rows}), 'figures are missing'
    print(f'{len(rows)} figures in {reader.cells} cells')


if __name__ == '__main__':
    main()
