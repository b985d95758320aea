"""Figures as text: in a cell, in a row of a table, in a sentence."""

from figures import DEFAULT, LEVEL, LIMIT, OURS
from published import AGGREGATED, GAIN, PUBLISHED

SCALES = ((1e9, 's'), (1e6, 'ms'), (1e3, 'µs'), (1, 'ns'))


def number(value):
    return f'{value:,.0f}' if value >= 1000 else f'{value:#.3g}'.rstrip('.')


def amount(value, unit):
    """With its unit; times in the one that suits them."""
    if unit != 'ns':
        return f'{number(value)} {unit}'
    scale, name = next((one for one in SCALES if value >= one[0]), SCALES[-1])
    return f'{number(value / scale)} {name}'


def figure(figures, row):
    """A figure and by how much its worst round was worse; or why there is none."""
    if row is None:
        return '–'
    if row.value is None:
        return row.status
    about = figures.questions[row.question]
    text = amount(row.value, about.unit)
    if row.rounds > 1:
        text += f' {"+" if about.better == "less" else "−"}{_worse(about, row.scatter):.0f} %'
    if row.rounds != figures.rounds():
        text += f' of {row.rounds}'
    return text if row.status == 'ok' else f'{text}, {row.status}'


def _worse(about, scatter):
    return 100 * (scatter - 1 if about.better == 'less' else 1 - 1 / scatter)


def cell(figures, question, case, who):
    """The best setting, with its name, and the default where that differs."""
    row = figures.best(question, case, who)
    text = figure(figures, row)
    if row is None or row.value is None or row.setting == DEFAULT:
        return text
    default = next((one for one in figures.of(question, case, who) if one.setting == DEFAULT), None)
    if default and default.value and not 1 - LEVEL < default.value / row.value < 1 + LEVEL:
        return f'{text} ({row.setting}; default {amount(default.value, figures.questions[question].unit)})'
    return f'{text} ({row.setting})'


def against(row):
    """By how much ours is better than a row; None: there is none."""
    return '–' if row is None or row.against is None else f'{row.against:.2f}'


def case_name(figures, question, case):
    if figures.questions[question].x != 'bytes':
        return case
    return f'{int(case):,} bytes'


def table(figures, question):
    """Lists of cells: heads, then a row for each case."""
    who = figures.who(question)
    has_limit, has_peer = LIMIT in who, bool(figures.peers(question))
    lines = [['', *who] + ['against by hand'] * has_limit + ['against the best other'] * has_peer]
    for case in figures.cases(question):
        cells = [case_name(figures, question, case), *(cell(figures, question, case, name) for name in who)]
        if has_limit:
            cells.append(against(figures.best(question, case, LIMIT)))
        if has_peer:
            cells.append(against(figures.best_peer(question, case)))
        lines.append(cells)
    return lines


def ways(figures, question):
    """The same across: a row for each contender and each of its ways, a column for each size."""
    cases = figures.cases(question)
    contenders = dict.fromkeys((row.who, row.setting) for who in figures.who(question)
                               for case in cases for row in figures.of(question, case, who))
    lines = [['', *(case_name(figures, question, case) for case in cases)]]
    for who, setting in contenders:
        rows = {row.case: row for case in cases for row in figures.of(question, case, who) if row.setting == setting}
        lines.append([who if setting == DEFAULT else f'{who}: {setting}',
                      *(figure(figures, rows.get(case)) for case in cases)])
    for name, ns in PUBLISHED.get(question, {}).items():
        lines.append([name, *(amount(ns[case], 'ns') if case in ns else '–' for case in cases)])
    return lines


def settings(figures, question):
    """A column for each setting of ours, what channels gain over messages, and beside it what others published."""
    rows = {case: {row.setting: row for row in figures.of(question, case, OURS)} for case in figures.cases(question)}
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    lines = {case: {name: figure(figures, row.get(name)) for name in names} for case, row in rows.items()}
    for case, row in rows.items():
        for name in names if 'messages' in names else ():
            if name.startswith('channels'):
                lines[case][name.replace('channels', GAIN)] = _gain(row.get('messages'), row.get(name))
        if 'plain' in row and 'aggregator' in row:
            lines[case][AGGREGATED] = number(row['plain'].value / row['aggregator'].value)
    for begin, cells in PUBLISHED.get(question, {}).items():
        here = next((case for case in lines if case.startswith(begin)), begin)
        lines.setdefault(here, {}).update(cells)
    heads = list(dict.fromkeys(head for cells in lines.values() for head in cells))
    return [['', *heads], *([case, *(cells.get(head, '–') for head in heads)] for case, cells in lines.items())]


def _gain(messages, channels):
    """By how much less time an iteration takes, of that with messages."""
    if not (messages and messages.value and channels and channels.value):
        return '–'
    return f'{100 * (1 - channels.value / messages.value):.1f} %'.replace('-', '−')


def scaling(figures, question):
    """A row for each program and a column for each place: a case is PROGRAM, PLACE, and PLACE begins with how many
    processes there are."""
    cells = {}
    for case in figures.cases(question):
        program, _, place = case.rpartition(', ')
        cells.setdefault(program, {})[place] = case
    places = list(dict.fromkeys(place for cases in cells.values() for place in cases))
    return [['', *places], *([program, *(_scaled(figures, question, cases, place) for place in places)]
                             for program, cases in cells.items())]


def _scaled(figures, question, cases, place):
    """The rate; the efficiency, which is what a process does of what one does alone; what is against the best other."""
    case = cases.get(place)
    row = case and figures.best(question, case, OURS)
    if not row or row.value is None:
        return '–'
    alone = cases.get('1 process') and figures.best(question, cases['1 process'], OURS)
    processes = int(place.split()[0])
    parts = [number(1e3 / row.value)]
    if alone and alone.value and processes > 1:
        parts.append(f'{100 * alone.value / row.value / processes:.0f} %')
    return ' · '.join([*parts, against(figures.best_peer(question, case))])


def form(figures, question):
    """The table that suits a question."""
    forms = {'channels': ways, 'papers': settings, 'conveyors': settings, 'scaling': scaling}
    return forms.get(question.partition('_')[0], table)(figures, question)


def losses(figures, questions=None):
    """Lists of cells: what a peer does better, worst first."""
    lines = []
    for _, question, case, peer in figures.behind():
        if questions and question not in questions:
            continue
        lines.append([f'{figures.questions[question].title}: {case_name(figures, question, case)}',
                      cell(figures, question, case, OURS), cell(figures, question, case, peer.who), peer.who,
                      against(peer)])
    return [['', 'Splitphase', 'the best other', 'which', 'against it'], *lines] if lines else []


def balance(figures):
    ahead, level, behind, unknown = figures.balance()
    if not ahead + level + behind:
        return 'Nothing was measured beside another library.'
    text = (f'Of {ahead + level + behind} figures that another library has as well, ours is better than the best of '
            f'them in {ahead}, level in {level} (within {100 * LEVEL:.0f} %) and worse in {behind}.')
    return text + (f' {unknown} more are not compared, as no other library could be measured.' if unknown else '')


def not_ok(figures):
    """A sentence for each contender that is missing, slow or lost somewhere."""
    groups = {}
    for row in figures.not_ok():
        setting = '' if row.setting == DEFAULT else f' ({row.setting})'
        key = (f'{row.who}{setting}, {figures.questions[row.question].title}', row.status, row.note)
        groups.setdefault(key, []).append(case_name(figures, row.question, row.case))
    for (what, status, note), cases in groups.items():
        where = cases[0] if len(cases) == 1 else f'{len(cases)} figures'
        yield f'{what}: {where} {status}{": " + note if note else ""}.'
