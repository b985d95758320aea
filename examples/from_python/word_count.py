"""The most frequent words of some files: each process counts those of its lines, and sends each word's
count to the process that owns the word, by a call there or by MPI.

    splitcrun -n 4 python3 examples/from_python/word_count.py FILE...
    mpirun -n 4 python3 examples/from_python/word_count.py --mpi FILE...

Both print the same words, and how long counting and sending took.
"""

import collections
import re
import sys
import time
import zlib

MOST = 5
counts = collections.Counter()  # of the words that this process owns


def count_lines(files, rank, size):
    """Of each word how often it is in lines rank, rank + size, .. of the files, by owner."""
    parts = [collections.Counter() for _ in range(size)]
    number = 0
    for name in files:
        with open(name, encoding='utf-8', errors='replace') as file:
            for line in file:
                if number % size == rank:
                    for word in re.findall(r"[\w']+", line.lower()):
                        parts[zlib.crc32(word.encode()) % size][word] += 1
                number += 1
    return parts


def most_frequent(parts):
    """Of lists of (word, count) of all processes."""
    return sorted((pair for part in parts for pair in part), key=lambda pair: (-pair[1], pair[0]))[:MOST]


def report(words, total, counting, sending):
    print(f'{total} words, {counting * 1e3:.1f} ms to count and {sending * 1e3:.1f} ms to send')
    for word, count in words:
        print(f'{count:8} {word}')


def my_most_frequent():
    return most_frequent([counts.items()])


def by_calls(files):
    rank, size = splitphase.my_proc(), splitphase.procs()
    splitphase.barrier()
    begin = time.perf_counter()
    parts = count_lines(files, rank, size)
    splitphase.barrier()
    counted = time.perf_counter()
    answers = [splitphase.rpc((rank + i) % size, add, dict(parts[(rank + i) % size]))
               for i in range(size)]
    for answer in answers:
        answer.result()
    splitphase.barrier()  # those of all have been added
    end = time.perf_counter()
    words = most_frequent(splitphase.all_gather_object(my_most_frequent()))
    total = splitphase.all_reduce(sum(counts.values()))
    if rank == 0:
        report(words, total, counted - begin, end - counted)


def by_mpi(files):
    comm = MPI.COMM_WORLD
    comm.Barrier()
    begin = time.perf_counter()
    parts = count_lines(files, comm.rank, comm.size)
    comm.Barrier()
    counted = time.perf_counter()
    for part in comm.alltoall([dict(part) for part in parts]):
        counts.update(part)
    comm.Barrier()
    end = time.perf_counter()
    words = most_frequent(comm.allgather(my_most_frequent()))
    total = comm.allreduce(sum(counts.values()))
    if comm.rank == 0:
        report(words, total, counted - begin, end - counted)


if '--mpi' in sys.argv:
    from mpi4py import MPI
    by_mpi([name for name in sys.argv[1:] if name != '--mpi'])
else:
    import splitphase

    @splitphase.remote
    def add(part):
        counts.update(part)

    splitphase.run(by_calls, sys.argv[1:])
