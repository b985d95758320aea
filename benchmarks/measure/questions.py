"""The questions that ./measure asks: a chapter of docs/figures.csv, and a table of the pages, each."""

from figures import LIMIT, OURS, Question

MPIS = ('Open MPI', 'MPICH')
BOTH_TCP = 'Between two nodes that are one machine, over TCP on its loopback; by hand: libfabric alone.'


def question(name, title, unit, text, x='', peers=MPIS):
    """Times are kept in ns; what is not a time is better the more there is of it, but for memory."""
    return Question(name, title, unit, 'less' if unit in ('ns', 'KiB') else 'more', x, text, peers)


QUESTIONS = [
    question('access_node', 'A word of another process on one node', 'ns',
             'Reads and writes of 8 bytes, of the same word or of one after the other; by hand: a raw pointer.',
             peers=('GASNet-EX',)),
    question('operations_node', 'Operations on one node', 'ns',
             'Two processes. By hand: what is named in the first column.', peers=()),
    question('operations_tcp', 'Operations over TCP', 'ns', BOTH_TCP, peers=()),
    question('round_trip_node', 'Round trip on one node', 'ns',
             'A request with so many bytes and a reply with as many; MPI: a message there and back.', 'bytes',
             (*MPIS, 'UCX', 'GASNet-EX')),
    question('round_trip_tcp', 'Round trip over TCP', 'ns', BOTH_TCP, 'bytes'),
    question('bandwidth_node', 'Bandwidth on one node', 'GB/s',
             'Large writes and reads (`bulk_put`, `bulk_get`, `bulk_store`); by hand: memcpy.', 'bytes', ()),
    question('bandwidth_tcp', 'Bandwidth over TCP', 'GB/s', BOTH_TCP, 'bytes', ()),
    question('rate', 'Message rate', 'M/s',
             'Many small operations in a row, 8 bytes each; by hand: the fastest ring known, or libfabric alone.',
             peers=()),
    question('atomics', 'Updates of random words', 'M/s',
             'Words all over the memory of two processes. MPI: Fetch_and_op with a flush for each, Accumulate, and '
             'buckets or Alltoallv.', peers=(*MPIS, 'OpenSHMEM')),
    question('collectives_node', 'Collective calls on one node', 'ns',
             'Repeated calls, so in their settled state, until all processes have ended the last. Of broadcast_fixed '
             'the root stays, of broadcast it changes with every call; those to one process have a fixed root.'),
    question('collectives_tcp', 'Collective calls over TCP', 'ns',
             'The same with a node for each process; the nodes share the cores of this machine.'),
    question('start', 'Start and end of a job', 'ns',
             'From the command to its end, of a program that starts, meets in a barrier, and ends.'),
    question('memory', 'Memory of a process', 'KiB', 'Private memory and pages of its segment in use, after the start.',
             peers=()),
    question('channels_node', 'Persistent channels on one node', 'ns',
             'There and back through a put channel. MPI: send, persistent send, and Put with a flag or a flush.',
             'bytes'),
    question('channels_tcp', 'Persistent channels over TCP', 'ns', BOTH_TCP, 'bytes'),
    question('channel_poll', 'Polls with idle channels', 'ns',
             'A poll with nothing to do, of a process with so many channels that each had one put and now are marked '
             'or armed; and the first polls after all were busy.', peers=()),
    question('zero_copy_node', 'Zero copy on one node', 'ns',
             'By buffers that are registered before (prereg), or in memory that the other process does not map '
             '(unreg: the kernel copies). By hand: the same bytes in a medium message, copied at both ends; from '
             'where that takes longer, zero copy pays.', peers=()),
    question('zero_copy_tcp', 'Zero copy over TCP', 'ns', 'The same between two nodes that are one machine.', peers=()),
    question('applications_node', 'Applications on one node', 'ns',
             'The same algorithm on the same input with the same answer; behind each figure the version it is of.'),
    question('applications_tcp', 'Applications over TCP', 'ns', 'The same, with a node for each process.'),
    question('papers_jacobi', 'Jacobi in 3-D', 'ns',
             'An iteration on the box of the CkDirect paper (E. Bohm et al., 2009), by messages, stores and put '
             'channels, and by how much less time it takes with channels than with messages. Where there are '
             'more processes than cores, they share the cores.', peers=()),
    question('papers_matmul', 'Product of matrices in 3-D', 'ns',
             'The same of the product of two matrices, by the algorithm of that paper.', peers=()),
    question('papers_pairs', 'PairCalculator', 'ns',
             'The same of the paper\'s phases of OpenAtom, with 2 processes. Marked: its channels are armed by '
             '`ready_mark` and `ready_poll` in the phase that waits for them, and not by `ready` in all.', peers=()),
    question('papers_gauss', 'Gauss', 'ns',
             'An exchange of elimination with a search for pivots, which reads single coefficients, in the three ways '
             'to wait, with 2 processes. Published: MPI-MPC1, with a system '
             'call for each and interrupts, and MPI-MPC2, which polls (O. Glück et al., The influence of system calls '
             'and interrupts on the performances of a PC cluster using a Remote DMA communication primitive).',
             peers=()),
    question('papers_ways', 'The four ways of Split-C', 'ns',
             'Each application between 2 processes by the ways in which Split-C for the New Millennium (A. Begel et '
             'al.) built the language, docs/transports.md; the fastest version of each. The slides print no numbers.',
             peers=()),
    question('scaling_strong', 'Strong scaling', 'ns',
             'The problem stays the same, on one node or over TCP with a node for each process. Each cell has the rate '
             'in millions a second; the efficiency, which is the rate of one process among several in percent of the '
             'rate of one alone; and by how much ours is faster than the faster MPI, with its default settings. A dash '
             'instead of a rate: the run did not end in 8 s. MPI runs with 4 processes at most. nstream is left out, '
             'as it communicates nothing.', peers=()),
    question('scaling_weak', 'Weak scaling', 'ns',
             'The same with problems whose work grows as the number of processes.', peers=()),
    question('conveyors', 'Conveyors', 'ns',
             'An update of Bale\'s histogram and a word of its index gather, 8 bytes each, in three styles of '
             '`examples/bale`; and how many times as long single atomics and gets (plain) take as the aggregator. '
             'Published by F. M. Maley and J. G. DeVinney (Conveyors for Streaming Many-To-Many Communication, 2019, '
             'Figure 2): how many times as much bandwidth conveyors have as single nonblocking puts and gets of SHMEM, '
             'over FDR InfiniBand. The paper also says that at 2^17 cores a node has 20 to 30 % less bandwidth than '
             'on few nodes, and that on a Cray XC30 it was 5.01 GB/s with 1,024 nodes, 4.15 with 4,096 and 3.50 with '
             '8,192. Its other figures are curves: asynchronous conveyors are faster there than bulk-synchronous '
             'ones. Of ours, `aggregator` is asynchronous, and `rounds` is bulk-synchronous.', peers=()),
]

NAMES = {'ours': OURS, 'limit': LIMIT, 'open_mpi': 'Open MPI', 'mpich': 'MPICH', 'ucx': 'UCX',
         'gasnet': 'GASNet-EX', 'open_shmem': 'OpenSHMEM'}

ACCESSES = {'read_*p': 'x = *p', 'read_p[i]': 'x = p[i]', 'write_*p': '*p = x', 'write_p[i]': 'p[i] = x'}

ZERO_COPY = {'put_and_back_prereg': 'put and back, prereg', 'get_prereg': 'get, prereg',
             'put_and_back_unreg': 'put and back, unreg', 'get_unreg': 'get, unreg'}

# Of the programs' lines those that stand for an operation: what it is, and in parentheses what is done by hand.
OPERATIONS_NODE = {
    'get_64_and_sync': '`get`, of 64 and a `sync` (a loop and a fence)',
    'put_64_and_sync': '`put`, of 64 and a `sync` (a loop and a fence)',
    'store': '`store`, counted (two stores)',
    'fetch_and_add': '`fetch_and_add` (the instruction)',
    'short_round_trip': 'short request and reply (one cache line)',
    'request_reply_pair': 'short request and reply, of many (a ring)',
    'parallel_bundle': 'short request and reply, bundle of several threads (bundle of one)',
    'medium_round_trip': 'request and reply of 4 KiB each (copy and flag)',
    'splitc_barrier': '`barrier` of two (two flags)',
    'rpc': '`rpc(..).result()` (request and reply)',
    'co_await_get': '`co_await get(p)` (`get` and `sync`)',
}
OPERATIONS_TCP = {
    'read_*p': '`x = *p` (`fi_read`)',
    'write_*p': '`*p = x` (`fi_write`)',
    'fetch_and_add': '`fetch_and_add` (a message there and back)',
    'short_round_trip': 'short request and reply (`fi_send`)',
    'get_strided': '`get_strided` of 1,000 words (`bulk_get` of as many)',
    'put_strided': '`put_strided` of 1,000 words (`bulk_put` of as many)',
    'register_first': 'registering 1 MiB for others, first use',
    'register_later': 'registering 1 MiB for others, settled',
    'barrier': '`barrier` of two (a message each way)',
}
