"""The parts of pages that are made of docs/figures.csv, docs/papers.csv and docs/scaling.csv: what stands between
<!-- figures: NAME --> and <!-- end of figures -->."""

import re
import textwrap

import text
from figures import LIMIT, OURS

BEGIN = re.compile(r'^<!-- figures: ', re.MULTILINE)
REGION = re.compile(r'^(<!-- figures: (\w+) -->\n).*?^(<!-- end of figures -->\n)', re.DOTALL | re.MULTILINE)
APPLICATIONS = ('applications_node', 'applications_tcp')

# The README's rows: question, case, what it is.
ROWS = [
    ('access_node', 'x = *p', 'one node: `x = *p`, a word of another process'),
    ('round_trip_node', '8', 'one node: short request and reply'),
    ('round_trip_node', '4096', 'one node: 4 KiB request and reply'),
    ('channels_node', '1000', 'one node: 1,000 bytes there and back by a put channel'),
    ('channels_tcp', '10000', 'TCP: 10,000 bytes there and back by a put channel'),
    ('round_trip_tcp', '8', 'TCP: short request and reply'),
]


def markdown(lines):
    """A table of lists of cells, the first of which are the heads."""
    if not lines:
        return ''
    lines = [lines[0], ['---'] * len(lines[0]), *lines[1:]]
    return ''.join('| ' + ' | '.join(cells) + ' |\n' for cells in lines).replace('|  |', '| |')


def paragraph(words):
    return '\n'.join(textwrap.wrap(words, 120, break_long_words=False, break_on_hyphens=False)) + '\n'


def place(source):
    """Where and when the figures of a region were measured."""
    rounds = source.figures.rounds()
    return paragraph(f'{source.machine()}; the best of {rounds} round{"s" * (rounds != 1)}.')


def readme(source):
    figures = source.figures
    lines = [['', 'Splitphase', 'by hand', 'best other']]
    for question, case, what in ROWS:
        peer = figures.best_peer(question, case)
        other = f'{text.figure(figures, peer)}, {peer.who}' if peer else '–'
        cells = [text.figure(figures, figures.best(question, case, who)) for who in (OURS, LIMIT)]
        lines.append([what, *cells, other])
    versions = ', '.join(f'{name} {source.facts[name]}' for name in ('UCX', 'GASNet-EX', 'Open MPI', 'MPICH')
                         if name in source.facts)
    worst = text.losses(figures)[1:4]
    losses = ''.join(f'- {what}: {ours}, {who} {other}.\n' for what, ours, other, who, _ in worst)
    about = paragraph(f'Two processes: {source.machine()}, {source.facts.get("compiler", "")}, {versions}. TCP is '
                      'the loopback; by hand is loads and stores, or libfabric. The best round counts; "+9 % of 5": '
                      'the worst of 5 was 9 % worse.')
    more = paragraph(f'{text.balance(figures)} [All figures](docs/measured.md). ' + 'The worst:' * bool(worst))
    return f'{about}\n{markdown(lines)}\n{more}{losses}'


def summary(source):
    """The machine, how often who is ahead, and where another is."""
    known = [f'- {name}: {words}\n' for name, words in source.facts.items()
             if not name.startswith(('doubt', 'remark', 'machine', 'date'))]
    parts = [*(f'**{words}**\n' for words in source.named('doubt')), place(source), ''.join(known),
             paragraph(text.balance(source.figures)), markdown(text.losses(source.figures))]
    return '\n'.join(part for part in parts if part)


def remarks(source):
    """What was left out, slow, lost or unsteady."""
    lines = [*text.not_ok(source.figures), *source.named('remark')]
    return ''.join(f'- {line}\n' for line in lines) or 'Nothing was slow, lost or left out.\n'


def of_question(source, question):
    about = source.figures.questions[question]
    if not source.figures.cases(question):
        return f'{about.title}: not measured on {source.machine()}.\n'
    return f'{paragraph(about.text)}{place(source)}\n{markdown(text.form(source.figures, question))}'


def applications(source):
    """What MPI does better first, then all."""
    if not any(source.figures.cases(question) for question in APPLICATIONS):
        return ''.join(of_question(source, question) for question in APPLICATIONS)
    losses = markdown(text.losses(source.figures, APPLICATIONS)) or 'MPI is ahead in none of them.\n'
    tables = [f'**{source.figures.questions[question].title}.** {of_question(source, question)}'
              for question in APPLICATIONS]
    return '\n'.join([losses, *tables])


# What stands above the tables of chapters that are measured alone.
ALONE = {
    'papers': ('Applications of publications, at their sizes',
               'The library follows publications, whose applications `./measure --only papers` runs at their sizes. '
               'Figures that are called published are theirs, of other machines.'),
    'scaling': ('Strong and weak scaling, and conveyors',
                'What `./measure --only scaling` says of eight Parallel Research Kernels and of two of Bale\'s kernels '
                'with 1 to 8 processes, which verify their answers. This machine has two cores: the figures of more '
                'than 2 processes say what it costs to share a core, and at best the efficiency is 50 % with 4 '
                'processes and 25 % with 8.'),
}


def alone(chapter, source):
    """All of its file."""
    title, about = ALONE[chapter]
    parts = [f'## {title}\n', paragraph(about), *(f'**{words}**\n' for words in source.named('doubt'))]
    parts += [f'**{about.title}.** {of_question(source, question)}'
              for question, about in source.figures.questions.items() if source.figures.cases(question)]
    parts.append(remarks(source))
    return '\n'.join(parts)


OTHERS = {'readme': readme, 'summary': summary, 'remarks': remarks, 'applications': applications}


def region(source, name, others={}):
    if name in ALONE:
        return alone(name, others[name]) if name in others else ''
    if name in OTHERS:
        return OTHERS[name](source)
    if name not in source.figures.questions:
        raise ValueError(f'<!-- figures: {name} -->: no such region; there are '
                         f'{", ".join([*ALONE, *OTHERS, *source.figures.questions])}')
    return of_question(source, name)


def rewritten(page, source, others={}):
    """The page with its regions as the source gives them, and `others` those of chapters that are measured alone."""
    if len(BEGIN.findall(page)) != len(REGION.findall(page)):
        raise ValueError('a line "<!-- figures: NAME -->" without its "<!-- end of figures -->"')
    return REGION.sub(lambda match: match[1] + region(source, match[2], others) + match[3], page)
