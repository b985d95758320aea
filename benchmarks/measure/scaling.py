"""The chapter `scaling`: kernels with more and more processes, and what conveyors publish of two of them. It is no part
of a whole run: ./measure --only scaling."""

import functools
import itertools
import re

from chapters import program_of
from figures import OURS
from papers import processes_of
from questions import NAMES

SCALED = ('prk_stencil', 'prk_transpose', 'prk_synch_p2p', 'prk_sparse', 'prk_random', 'prk_dgemm', 'prk_reduce',
          'prk_pic', 'histogram', 'index_gather')


def scaling(how, machine, rounds):
    programs = machine.amount(SCALED[:1], SCALED, SCALED)
    options = machine.amount(['--quick', '--procs', '1 2'], ['--procs', '1 2 4'], ['--procs', '1 2 4 8'])
    for row in machine.script([f'scaling_{how}'], 'applications_mpi.sh', '--csv', '--scaling', how, '--only',
                              ' '.join(programs), '--nodes', '1 same', '--rounds', 1, '--repetitions', 1,
                              '--seconds', 8, *options):
        title, ns = program_of(row)
        place = processes_of(int(row['procs'])) if row['nodes'] == '1' else f'{row["nodes"]} nodes'
        rounds.add(f'scaling_{how}', f'{title}, {place}', NAMES[row['who']], ns, row['version'])


def conveyors(machine, rounds):
    """Each style of Bale's kernels for which the paper prints figures."""
    for processes, nodes in machine.amount([(2, 2)], [(2, 1), (2, 2)], [(2, 1), (2, 2), (8, 8)]):
        options = ['--updates', machine.amount(200, 40000, 400000) // processes, '--repetitions', 2]
        for kernel, style in itertools.product(('histogram', 'index_gather'), ('plain', 'aggregator', 'rounds')):
            text = machine.job(processes, nodes, 'examples/bale', kernel, '--style', style, *options)
            place = processes_of(processes) + (f' on {nodes} nodes' if nodes > 1 else '')
            for rate in re.findall(r' s +([\d.]+) million .*, 0 wrong$', text, re.MULTILINE):
                rounds.add('conveyors', f'{kernel.replace("_", " ")}, {place}', OURS, 1e3 / float(rate), style)


SCALING = {'scaling, strong': functools.partial(scaling, 'strong'), 'scaling, weak': functools.partial(scaling, 'weak'),
           'scaling, conveyors': conveyors}
