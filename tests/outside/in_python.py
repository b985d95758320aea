"""A process of a job that opens the library, closes it and opens it again, and uses it beside threads,
other programs and forked children. Its exit code says whether all of that is as it should be."""

import ctypes
import os
import subprocess
import sys
import threading
import _ctypes

PATH = os.environ['SPLITPHASE_LIBRARY']
AM_ERR_BAD_ARG, AM_ERR_RESOURCE = 2, 3

_ctypes.dlclose(ctypes.CDLL(PATH)._handle)
am = ctypes.CDLL(PATH)
am.AM_ErrorSentence.restype = ctypes.c_char_p
Handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)
bundle, endpoint = ctypes.c_void_p(), ctypes.c_void_p()
got = []


def call(name, *arguments):
    if getattr(am, name)(*arguments) != 0:
        sys.exit(f'{name}: {am.AM_ErrorSentence().decode()}')


def sentences_of_threads():
    """Each thread has its own last sentence, beside that of the others, and none at first."""
    barrier, said = threading.Barrier(4), {}

    def fail(number):
        before = am.AM_ErrorSentence()
        barrier.wait()
        code = am.AM_SetHandler(endpoint, 1000 + number, None)
        barrier.wait()
        said[number] = before, code, am.AM_ErrorSentence()

    threads = [threading.Thread(target=fail, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return all(said[i][:2] == (b'', AM_ERR_BAD_ARG) and b'handler %d' % (1000 + i) in said[i][2]
               for i in range(4))


def exchange():
    """A message from each to the next."""
    me, procs = am.AMX_SPMDMyProc(), am.AMX_SPMDNumProcs()
    before = len(got)
    call('AMX_SPMDBarrier')
    call('AM_Request1', endpoint, (me + 1) % procs, 1, me)
    while len(got) == before:
        call('AM_Poll', bundle)
    call('AMX_SPMDBarrier')
    return got[before:] == [(me - 1) % procs]


def check(what):
    if not what():
        sys.exit(f'{what.__name__} is wrong')


def children():
    """Of all kinds, which leave as they like; and a call in a forked one is refused."""
    child = os.fork()
    if child == 0:
        refused = am.AM_Poll(bundle) == AM_ERR_RESOURCE and am.AMX_SPMDBarrier() == AM_ERR_RESOURCE
        os._exit(3 if refused and b'was forked from rank' in am.AM_ErrorSentence() else 4)
    return (os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
            and subprocess.run(['true'], check=False).returncode == 0
            and subprocess.check_output('echo; echo', shell=True) == b'\n\n'
            and os.system('exit 7') >> 8 == 7)


@Handler
def on_number(_, number):
    got.append(number)


call('AMX_SPMDStartup', None, None, 0, None, ctypes.byref(bundle), ctypes.byref(endpoint))
call('AM_SetHandler', endpoint, 1, on_number)
check(sentences_of_threads)
check(exchange)
check(children)
_ctypes.dlclose(ctypes.CDLL(PATH)._handle)
check(exchange)
call('AM_Terminate')
