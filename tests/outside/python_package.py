"""A job that uses the package `splitphase` in all its ways. What is not as it should be is an exception,
which ends the job. Process 0 prints the names of what has passed.

    splitcrun -n 3 python3 python_package.py [NAME...]
"""

import signal
import sys
import threading

import numpy

import splitphase
from splitphase import barrier, my_proc, procs, rpc, spread_array

TYPES = ['?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f4', 'f8', 'c8', 'c16']
LAYOUTS = ['blocked', 'cyclic', 3]
STEPS = 5


def check(condition, *what):
    if not condition:
        raise AssertionError(*what)


def check_equal(got, expected):
    check(numpy.array_equal(got, expected), got, expected)


def check_refused(sentence, call, *args, kind=splitphase.Error):
    """The call raises this error, whose text has these words."""
    try:
        call(*args)
    except kind as error:
        check(sentence in str(error), str(error), sentence)
        return
    raise AssertionError(f'nothing is refused with "{sentence}"')


def right():
    return (my_proc() + 1) % procs()


def left():
    return (my_proc() - 1) % procs()


# --- Arrays

def elements_are_read_and_written_by_all():
    for kind in TYPES:
        with spread_array(4 * procs(), kind) as array:
            check(len(array) == 4 * procs() and array.dtype == kind)
            check(array[-1] == 0)
            barrier()  # all have seen that it is zero
            i = 4 * right() + 2
            array[i] = 1 if kind == '?' else right() + 1
            barrier()
            check(array[i].dtype == kind and array[i] == (1 if kind == '?' else right() + 1), kind)
            check(array.mine[2] == (1 if kind == '?' else my_proc() + 1), kind)


def mine_is_the_memory_itself():
    with spread_array(10, 'i8', 'cyclic') as array:
        mine = array.mine
        mine[:] = array.my_indices
        check(all(array.owner(i) == my_proc() for i in array.my_indices))
        barrier()
        check_equal([array[i] for i in range(10)], range(10))
        check_equal(numpy.array(list(array)), range(10))  # by IndexError at the end
        barrier()  # all have read
        array[:] = 7
        barrier()
        check(not mine.flags.owndata and all(mine == 7))
        del mine


def slices_are_got_and_put_in_each_layout():
    n = 11 * procs() + 2
    for layout in LAYOUTS:
        for kind in ['i2', 'f8', 'c16']:
            with spread_array(n, kind, layout) as array:
                array.mine[:] = array.my_indices
                barrier()
                for first in range(0, n, 3):
                    for last in (first, first + 1, first + 7, n):
                        last = min(last, n)
                        check_equal(array[first:last], numpy.arange(first, last))
                out = numpy.zeros(n, kind)
                under_way = array.get(slice(None), out)
                check(under_way.wait() is out)
                check_equal(out, numpy.arange(n))
                barrier()  # all have read
                first, last = 11 * my_proc() + 1, 11 * my_proc() + 12
                values = -numpy.arange(first, last).astype(kind)
                array.put(slice(first, last), values).wait()
                barrier()
                check_equal(array[1:11 * procs() + 1], -numpy.arange(1, 11 * procs() + 1).astype(kind))


def a_get_whose_handle_is_dropped_is_completed_by_sync():
    n = 20000 * procs()
    with spread_array(n, 'f8', 'cyclic') as array:
        array.mine[:] = array.my_indices
        barrier()
        outs = [numpy.zeros(n) for _ in range(3)]
        for out in outs:
            array.get(slice(None), out)
        splitphase.sync()
        for out in outs:
            check_equal(out, numpy.arange(n))
        array.get(slice(None))  # into an array that nobody has
        splitphase.sync()
        barrier()  # all have read
        array.put(slice(20000 * my_proc(), 20000 * (my_proc() + 1)), numpy.full(20000, 5.0))
        splitphase.sync()
        barrier()
        check(all(array[:] == 5))
        one = array.get(slice(0, n))
        splitphase.wait_until(one.ready)
        check(all(one.wait() == 5))


def stores_are_counted_where_they_land():
    for layout in ['blocked', 'cyclic']:
        with spread_array(6 * procs(), 'i4', layout) as array:
            if layout == 'blocked':
                array.store(slice(6 * right(), 6 * right() + 6), numpy.full(6, my_proc()))
                splitphase.store_sync(24)
                check_equal(array.mine, numpy.full(6, left()))
                barrier()
            array.store(slice(6 * my_proc(), 6 * my_proc() + 6), numpy.arange(6))
            splitphase.all_store_sync()
            check_equal(array[:], numpy.tile(numpy.arange(6), procs()))
            barrier()


def bad_accesses_are_refused():
    array = spread_array(8, 'i4')
    check_refused('there is no element 8', lambda: array[8], kind=IndexError)
    check_refused('there is no element -9', lambda: array[-9], kind=IndexError)
    check_refused('no step', lambda: array[0:8:2])
    check_refused('could not be broadcast', array.put, slice(0, 4), [1, 2, 3], kind=ValueError)
    check_refused('are to come', array.get, slice(0, 4), numpy.zeros(4, 'i8'))
    check_refused('are to come', array.get, slice(0, 4), numpy.zeros(5, 'i4'))
    check_refused('not contiguous', array.get, slice(0, 4), numpy.zeros(8, 'i4')[::2])
    read_only = numpy.zeros(4, 'i4')
    read_only.flags.writeable = False
    check_refused('may not be written', array.get, slice(0, 4), read_only)
    check_refused('int', lambda: array.__setitem__(0, 'four'), kind=ValueError)
    for kind in ['O', 'U4', '>i4', 'M8[s]']:
        check_refused('do not travel', spread_array, 8, kind)
    check_refused('there is no layout', spread_array, 8, 'i4', 'diagonal')
    check_refused('there is no layout', spread_array, 8, 'i4', 0)
    if procs() > 1:
        check_refused('of another size', spread_array, 8 + my_proc(), 'i4')
    mine = array.mine
    check_refused('1 NumPy arrays show this memory', array.free)
    del mine
    array.free()
    check_refused('was freed', lambda: array[0])
    check_refused('was freed', lambda: array.mine)


def empty_ones_are_arrays_too():
    with spread_array(0, 'f8') as array:
        check(len(array) == 0 and len(array.mine) == 0 and len(array.my_indices) == 0)
        check(len(array[:]) == 0 and len(array.put(slice(None), []).wait()) == 0)
        check_refused('there is no element 0', lambda: array[0], kind=IndexError)
    with spread_array(1, 'u1') as array:  # most processes have none
        check(len(array.mine) == (1 if my_proc() == 0 else 0))
        check(array[:].tolist() == [0])
    check(splitphase.buffer(0, 'f8').shape == (0,) and splitphase.buffer((3, 2), 'i2').shape == (3, 2))
    check(len(splitphase.all_reduce(numpy.zeros(0))) == 0)
    check(splitphase.all_gather(numpy.zeros((0, 2))).shape == (procs(), 0, 2))
    check_refused('no array of shape', splitphase.buffer, (-1, 2), 'f8')
    check_refused('no memory', splitphase.buffer, 2 ** 62, 'c16')


# --- Collective calls

def numbers_and_arrays_are_reduced():
    me, n = my_proc(), procs()
    for kind in TYPES[1:]:
        value = (numpy.arange(5) + me).astype(kind)
        check_equal(splitphase.all_reduce(value), (n * numpy.arange(5) + n * (n - 1) // 2).astype(kind))
        check(splitphase.all_reduce(value).dtype == kind)
        if not kind.startswith('c'):
            check_equal(splitphase.all_reduce(value, 'min'), numpy.arange(5))
            check_equal(splitphase.all_reduce(value, 'max'), numpy.arange(5) + n - 1)
        check_equal(value, numpy.arange(5) + me)  # as it was
    check(splitphase.all_reduce(me) == n * (n - 1) // 2)
    check(splitphase.all_reduce(0.5 * me, 'max') == 0.5 * (n - 1))
    check_equal(splitphase.all_reduce(numpy.ones((30, 50))[:, ::2]), n * numpy.ones((30, 25)))
    check_equal(splitphase.all_reduce(numpy.array([100, me], 'i1')),
                (n * numpy.array([100, 0]) + [0, n * (n - 1) // 2]).astype('i1'))
    check(splitphase.all_scan(me + 1) == (me + 1) * (me + 2) // 2)
    check(splitphase.all_scan(float(-me), 'min') == -me)
    check(splitphase.all_scan(1j) == 1j * (me + 1))
    check_refused('no order', splitphase.all_reduce, 1j, 'max')
    check_refused("no operation 'mean'", splitphase.all_reduce, 1, 'mean')
    check_refused('cannot be combined', splitphase.all_reduce, True)
    check_refused('cannot be combined', splitphase.all_reduce, numpy.float16(1))
    check_refused('one number', splitphase.all_scan, numpy.zeros(2))


def arrays_and_objects_are_broadcast_and_gathered():
    root = procs() - 1
    array = numpy.arange(3000.).reshape(30, 100) * (my_proc() == root)
    check(splitphase.broadcast(array, root) is array)
    check_equal(array, numpy.arange(3000.).reshape(30, 100))
    rows = splitphase.all_gather(numpy.full((2, 3), my_proc()))
    check_equal(rows, numpy.arange(procs()).reshape(-1, 1, 1) * numpy.ones((1, 2, 3)))
    check_equal(splitphase.all_gather(my_proc()), numpy.arange(procs()))
    told = {'from': root, 'text': 'x' * 10000}
    check(splitphase.broadcast_object(told if my_proc() == root else None, root) == told)
    check(splitphase.all_gather_object(my_proc() * 'y') == [p * 'y' for p in range(procs())])
    check_refused('there is no process', splitphase.broadcast, array, procs())
    check_refused('not contiguous', splitphase.broadcast, array[:, ::2])


# --- Calls

class Unpicklable(Exception):
    def __init__(self, first, second):
        super().__init__(first + second)


seen = []


@splitphase.remote
def note(value):
    seen.append(value)
    return my_proc(), value


@splitphase.remote
def fail(kind):
    if kind == 'key':
        return {}['a key']
    if kind == 'class':
        raise Unpicklable('a', 'b')
    if kind == 'result':
        return lambda: 0
    if kind == 'exit':
        sys.exit(3)
    if kind == 'waits':
        splitphase.barrier()
    if kind == 'calls':
        rpc(0, note, 1)
    return None


def functions_run_in_other_processes():
    seen.clear()
    barrier()  # it is empty everywhere
    futures = [rpc(p, note, 'short' * k) for p in range(procs()) for k in (1, 100, 100000)]
    check([future.result() for future in futures] ==
          [(p, 'short' * k) for p in range(procs()) for k in (1, 100, 100000)])
    barrier()
    check(len(seen) == 3 * procs())
    barrier()  # all have looked
    values = rpc(right(), note, value=numpy.arange(50000)).result()
    check_equal(values[1], numpy.arange(50000))
    future = rpc(right(), note, None)
    splitphase.wait_until(future.ready)
    check(future.result() == future.result() == (right(), None))
    rpc(right(), note, 'dropped')  # and is run all the same
    splitphase.wait_until(lambda: len(seen) == 3 * procs() + 3)


def what_a_function_raises_comes_out_at_its_caller():
    for proc in {my_proc(), right()}:
        check_refused('a key', rpc(proc, fail, 'key').result, kind=KeyError)
        check_refused('Unpicklable: ab', rpc(proc, fail, 'class').result, kind=RuntimeError)
        check_refused('pickle', rpc(proc, fail, 'result').result, kind=Exception)
        check_refused('3', rpc(proc, fail, 'exit').result, kind=SystemExit)
        check_refused('argument', rpc(proc, note).result, kind=TypeError)
        if proc != my_proc():
            check_refused('barrier', rpc(proc, fail, 'waits').result)
            check_refused('may not call others', rpc(proc, fail, 'calls').result)
        try:
            rpc(proc, fail, 'key').result()
        except KeyError as error:
            check(f'in process {proc}' in str(error.__cause__) and 'in fail' in str(error.__cause__))
    check_refused('@splitphase.remote', rpc, 0, check)
    check_refused('there is a function', splitphase.remote, note)
    check_refused('there is no process', rpc, procs(), note, 1)
    barrier()


# --- Channels

def channels_carry_puts_over_and_over():
    ghost = splitphase.buffer(1000, 'f8')
    inbox = splitphase.receive_channel(ghost)
    handles = splitphase.all_gather_object(inbox.handle)
    edge = numpy.zeros(1000)
    outbox = splitphase.send_channel(handles[right()], edge)
    for step in range(STEPS):
        outbox.wait_reusable()
        edge[:] = step + 10 * my_proc()
        outbox.put()
        check(inbox.wait() is ghost and inbox.arrived)
        check_equal(ghost, numpy.full(1000, step + 10 * left()))
        inbox.ready()
        check(not inbox.arrived)
        barrier()
    check(outbox.reusable or procs() > 1)
    check_refused('segment', splitphase.receive_channel, numpy.zeros(10))
    check_refused('handle', splitphase.send_channel, b'no handle', edge)
    check_refused('bytes', splitphase.send_channel, handles[right()], numpy.zeros(10))
    barrier()


# --- Threads, and the end

def threads_run_while_one_waits_and_may_not_call():
    said, event = [], threading.Event()

    def other():
        try:
            spread_array(1, 'i4')
        except splitphase.Error as error:
            said.append(str(error))
        event.set()

    threading.Thread(target=other).start()
    splitphase.wait_until(event.is_set)
    check(len(said) == 1 and 'thread' in said[0], said)
    check_refused('division', splitphase.wait_until, lambda: 1 // 0, kind=ZeroDivisionError)
    barrier()


def what_another_thread_drops_is_freed():
    """Blocks of 64 MB, of which a segment has room for a few; a future; and both ends of a channel."""
    for _ in range(5):
        inbox = splitphase.receive_channel(splitphase.buffer(2, 'f8'))
        handles = splitphase.all_gather_object(inbox.handle)
        outbox = splitphase.send_channel(handles[right()], numpy.zeros(2))
        outbox.put()
        inbox.wait()
        barrier()  # all have arrived
        dropped = [splitphase.buffer(8 * 1000 * 1000, 'f8'), rpc(right(), note, 1), inbox, outbox]
        del inbox, outbox
        thread = threading.Thread(target=dropped.clear)
        thread.start()
        thread.join()
        check(not dropped)
    barrier()


def ctrl_c_ends_the_process_while_the_job_runs():
    check(signal.getsignal(signal.SIGINT) == signal.SIG_DFL)


def main():
    cases = [elements_are_read_and_written_by_all, mine_is_the_memory_itself,
             slices_are_got_and_put_in_each_layout, a_get_whose_handle_is_dropped_is_completed_by_sync,
             stores_are_counted_where_they_land, bad_accesses_are_refused, empty_ones_are_arrays_too,
             numbers_and_arrays_are_reduced, arrays_and_objects_are_broadcast_and_gathered,
             functions_run_in_other_processes, what_a_function_raises_comes_out_at_its_caller,
             channels_carry_puts_over_and_over, threads_run_while_one_waits_and_may_not_call,
             what_another_thread_drops_is_freed,
             ctrl_c_ends_the_process_while_the_job_runs]
    for case in cases:
        if sys.argv[1:] and case.__name__ not in sys.argv[1:]:
            continue
        case()
        barrier()
        if my_proc() == 0:
            print('passed:', case.__name__.replace('_', ' '))
    return procs()


check_refused('no job is running', barrier)
check(splitphase.run(main) >= 1)
check(not splitphase.is_running())
check(signal.getsignal(signal.SIGINT) == signal.default_int_handler)
check_refused('no job is running', rpc, 0, note, 1)
