"""Splitphase in Python: arrays over all processes of a job, split-phase access to their elements,
calls of functions in other processes, put channels and collective calls, all with NumPy arrays.

    import splitphase

    def main():
        a = splitphase.spread_array(1000, 'f8')
        a.mine[:] = splitphase.my_proc()
        splitphase.barrier()
        print(a[999], splitphase.all_reduce(a.mine.sum()))

    splitphase.run(main)

    splitcrun -n 4 python3 program.py

Whatever is called in a job is called by the thread that has begun it. What waits gives up Python's
global interpreter lock, and runs what other processes want of this one.
"""

import pickle
import signal
import sys
import traceback

import numpy

from ._splitphase import (  # noqa: F401
    Error, Operation, PeerDied, all_gather, all_reduce, all_scan, all_store_sync, barrier, broadcast,
    buffer, checked, is_near, is_running, my_proc, poll, procs, receive_channel, send_channel,
    spread_array, store_sync, sync, wait_until)
from . import _splitphase

__all__ = [
    'Error', 'Future', 'Operation', 'PeerDied', 'RemoteTraceback', 'abort', 'all_gather',
    'all_gather_object', 'all_reduce', 'all_scan', 'all_store_sync', 'barrier', 'broadcast',
    'broadcast_object', 'buffer', 'checked', 'is_near', 'is_running', 'job', 'my_proc', 'poll', 'procs',
    'receive_channel', 'remote', 'rpc', 'run', 'send_channel', 'spread_array', 'store_sync', 'sync',
    'wait_until']


for _name in ('Error', 'Operation', 'PeerDied', 'receive_channel', 'send_channel', 'spread_array'):
    getattr(_splitphase, _name).__module__ = __name__  # as tracebacks are to call them


# --- Begin and end

class job:  # pylint: disable=invalid-name
    """with splitphase.job(): begins the job of this process and ends it, both collective.

    An exception that leaves the block is printed with its traceback, and ends every process of the
    job. SystemExit of code 0 or None ends it as usual; of another code all end, with that code.

    While the job runs, Ctrl-C ends the process as it ends a program in C, if Python would raise
    KeyboardInterrupt otherwise: that could not interrupt a call that waits.
    """

    def __enter__(self):
        _splitphase._begin()
        self._handled = _set_interrupt(signal.default_int_handler, signal.SIG_DFL)
        return self

    def __exit__(self, kind, value, trace):
        if kind is None or (kind is SystemExit and value.code in (None, 0)):
            try:
                _flush()
                _splitphase._finish()
            except BaseException as error:  # pylint: disable=broad-except
                _abort_by(error)
        else:
            _abort_by(value)
        if self._handled:
            _set_interrupt(signal.SIG_DFL, signal.default_int_handler)
        return False


def run(function, *args):
    """Begins the job, calls function(*args), ends the job, and returns what that returned: job()."""
    with job():
        return function(*args)


def abort(sentence, code=1):
    """Ends every process of the job at once, with this exit code, and prints the sentence."""
    _flush()
    _splitphase._abort(code, str(sentence))


def _abort_by(error):
    _flush()
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 1
        _splitphase._abort(code, f'the program called sys.exit({error.code!r})')
    traceback.print_exception(error)
    _flush()
    what = traceback.format_exception_only(error)[-1].strip()
    _splitphase._abort(1, f'the program was left by an exception: {what}')


def _flush():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _set_interrupt(before, after):
    """Whether what Ctrl-C does was `before`, and is `after` now."""
    try:
        if signal.getsignal(signal.SIGINT) != before:
            return False
        signal.signal(signal.SIGINT, after)
        return True
    except ValueError:  # another thread than the first, which Ctrl-C does not interrupt
        return False


# --- Collective calls with objects

def broadcast_object(value, root=0):
    """Collective: the object of `root`, pickled, in every process; those of the others are ignored."""
    packed = pickle.dumps(value) if my_proc() == root else b''
    size = broadcast(numpy.array([len(packed)], 'i8'), root)
    data = numpy.frombuffer(bytearray(packed.ljust(int(size[0]), b'\0')), 'u1')
    return pickle.loads(broadcast(data, root).tobytes())


def all_gather_object(value):
    """Collective: the objects of all processes, pickled, as a list by process."""
    packed = pickle.dumps(value)
    longest = int(all_reduce(len(packed), 'max'))
    return [pickle.loads(row.tobytes())  # which ignores what follows
            for row in all_gather(numpy.frombuffer(packed.ljust(longest, b'\0'), 'u1'))]


# --- Calls of functions in other processes

class RemoteTraceback(Exception):
    """The traceback of a function in another process: the cause of what Future.result() raises."""

    def __str__(self):
        return self.args[0]


class Future:
    """What rpc() gives: the result of a call, which may still be to come."""

    def __init__(self, answer):
        self._answer = answer
        self._outcome = None

    def ready(self):
        """Whether the result is there; polls once if it is not."""
        return self._outcome is not None or self._answer.ready()

    def result(self):
        """Waits, and returns what the function returned, or raises what it raised."""
        if self._outcome is None:
            self._outcome = pickle.loads(self._answer.result())
            self._answer = None
        value, error, trace = self._outcome
        if error is not None:
            raise error from RemoteTraceback(trace)
        return value


_functions = {}


def remote(function):
    """A decorator: lets rpc() call this function in other processes, which it knows by its name."""
    name = f'{function.__module__}.{function.__qualname__}'
    if name in _functions:
        raise Error(f'splitphase.remote: there is a function {name} already, and processes know '
                    'functions by their names; give this one another')
    _functions[name] = function
    function.splitphase_name = name
    return function


def rpc(proc, function, *args, **kwargs):
    """Calls function(*args, **kwargs), which is remote(), in process `proc`, and gives a Future.

    It runs in the thread of that process that is in the job, when that polls or waits: so it is short,
    and may not wait itself, nor call rpc(). Arguments and result are pickled.
    """
    name = getattr(function, 'splitphase_name', None)
    if name is None:
        raise Error(f'rank {my_proc()}: splitphase.rpc: {function!r} is not known to other processes; '
                    'write @splitphase.remote above its definition')
    return Future(_splitphase._call(proc, pickle.dumps((name, args, kwargs))))


def _serve(packed):
    try:
        name, args, kwargs = pickle.loads(packed)
        if name not in _functions:
            raise Error(f'rank {my_proc()}: splitphase.rpc: there is no function {name} here; all '
                        'processes define the same remote() functions before they are called')
        return pickle.dumps((_functions[name](*args, **kwargs), None, ''))
    except BaseException as error:  # pylint: disable=broad-except
        trace = f'\nin process {my_proc()}:\n{traceback.format_exc()}'
        try:
            packed = pickle.dumps((None, error, trace))
            pickle.loads(packed)  # some can be packed only
            return packed
        except Exception:  # pylint: disable=broad-except
            what = traceback.format_exception_only(error)[-1].strip()
            return pickle.dumps((None, RuntimeError(what), trace))


_splitphase._serve_by(_serve)
