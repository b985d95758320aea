"""Jobs of Python that end otherwise than by the end of their function, and several in one process.

    splitcrun -n 2 python3 python_errors.py again|differs|exits|keeps|leaves|raises|waits
"""

import sys

import numpy

import splitphase


def raises():
    """One process raises, while the others wait for it."""
    if splitphase.my_proc() == splitphase.procs() - 1:
        raise ValueError('nobody catches this')
    splitphase.barrier()


def exits():
    if splitphase.my_proc() == 0:
        sys.exit(5)
    splitphase.barrier()


def leaves():
    """All leave, as by --help."""
    sys.exit(0)


kept = []


def keeps():
    """An array outlives the job, and the process ends with it."""
    kept.append(splitphase.spread_array(2 * splitphase.procs(), 'i4').mine)
    kept[0][:] = 21


@splitphase.remote
def wait():
    splitphase.sync()
    splitphase.barrier()


def differs():
    """Different collective calls are named by their lines in this file."""
    if splitphase.my_proc() == 0:
        splitphase.all_gather_object('something')
    else:
        splitphase.barrier()


def waits():
    """What a called function raises ends the job where its caller does not catch it."""
    splitphase.rpc(1, wait).result()


def again():
    """A second job, when nothing shows the memory of the first any more."""
    with splitphase.job():
        array = splitphase.spread_array(10, 'i4')
        mine = array.mine
        mine[:] = 3
        future = splitphase.rpc(splitphase.procs() - 1, count)
        dropped = splitphase.receive_channel(splitphase.buffer(4, 'f8'))
        kept = splitphase.buffer(4, 'f8')
        splitphase.barrier()
    assert numpy.all(mine == 3)  # it stays
    for call, sentence in [
            (lambda: splitphase.job().__enter__(), '3 NumPy arrays still show memory of the job before'),
            (lambda: array[0], 'no job is running'),
            (future.result, 'no job is running'),
            (dropped.wait, 'no job is running')]:
        try:
            call()
        except splitphase.Error as error:
            assert sentence in str(error), error
        else:
            raise AssertionError(sentence)
    del mine, kept, dropped, call
    with splitphase.job():
        for call in (lambda: array[0], future.result):
            try:
                call()
            except splitphase.Error as error:
                assert 'in a job that has ended' in str(error), error
            else:
                raise AssertionError('what belongs to the former job is used')
        del future, array
        assert splitphase.all_reduce(1) == splitphase.procs()
    print('a second job has ended')


@splitphase.remote
def count():
    return 1


if sys.argv[1] == 'again':
    again()
else:
    splitphase.run({'differs': differs, 'exits': exits, 'keeps': keeps, 'leaves': leaves, 'raises': raises,
                    'waits': waits}[sys.argv[1]])
    if sys.argv[1] == 'keeps':
        sys.stdout.write(f'{kept[0].sum()} is still here\n')
