#!/usr/bin/env python3
"""Active Messages from Python: the C interface, am/c/am2.h, in a library that ctypes opens.

Process 0 hands out parts of a range, and the others count the primes in them; who has done one asks
for the next. On one process there is nobody to ask, so it counts by itself.

    splitcrun -n 4 python3 examples/from_python/primes.py 200000

SPLITPHASE_LIBRARY names the library where the system's loader does not find it.
"""

import ctypes
import os
import sys

PART = 2000
ASK, ANSWER = 1, 2  # handlers, the same in every process
AM_NOTEMPTY = 1

am = ctypes.CDLL(os.environ.get('SPLITPHASE_LIBRARY', 'libsplitphase.so.0'))
am.AM_ErrorSentence.restype = ctypes.c_char_p
Handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32)
bundle, endpoint = ctypes.c_void_p(), ctypes.c_void_p()


def check(code):
    """Of every call that returns a code."""
    if code != 0:
        sys.exit(am.AM_ErrorSentence().decode())


def handler(index):
    """Makes a function of two numbers the handler of that index. What it raises is printed, no more."""
    def register(function):
        called = Handler(function)
        handlers.append(called)
        check(am.AM_SetHandler(endpoint, index, called))
        return function
    return register


handlers = []  # what C calls has to live
check(am.AMX_SPMDStartup(None, None, 0, None, ctypes.byref(bundle), ctypes.byref(endpoint)))
check(am.AM_SetEventMask(bundle, AM_NOTEMPTY))
me, procs = am.AMX_SPMDMyProc(), am.AMX_SPMDNumProcs()
limit = int(sys.argv[1]) if len(sys.argv) > 1 else 200000
begin, found, asking = 0, 0, max(procs - 1, 1)


def primes(first, end):
    """How many there are from `first` to before `end`."""
    return sum(1 for n in range(max(first, 2), end) if all(n % d for d in range(2, int(n ** .5) + 1)))


@handler(ASK)
def on_ask(token, counted, _):
    """At process 0: somebody has counted so many, and wants more."""
    global begin, found, asking
    found += counted
    check(am.AM_Reply2(ctypes.c_void_p(token), ANSWER, begin, min(begin + PART, limit)))
    asking -= begin >= limit
    begin += PART


@handler(ANSWER)
def on_answer(_, first, end):
    """A part to be counted; an empty one: there is no more."""
    global part
    part = first, end


def wait_until(condition):
    """Sleeps until messages come, and handles them."""
    while not condition():
        check(am.AM_Wait(bundle))
        check(am.AM_Poll(bundle))


check(am.AMX_SPMDBarrier())  # everybody has its handlers
if procs > 1 and me == 0:
    wait_until(lambda: asking == 0)
else:
    counted, more = 0, True
    while more:
        part = None
        check(am.AM_Request2(endpoint, 0, ASK, counted, 0))
        wait_until(lambda: part)
        more = part[0] < part[1]
        counted = primes(*part)
check(am.AMX_SPMDBarrier())
if me == 0:
    print(f'{found} primes below {limit}')
check(am.AM_Terminate())  # before Python ends, as handlers run in it
