// Jobs of processes that all run one program (SPMD), above am2.h: start, barrier, all-gather and
// exit, as Berkeley's AMUDP and AMMPI have them. C11 to C23, and C++.
//
//   eb_t bundle;
//   ep_t endpoint;
//   if (AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint) != AM_OK) return 1;
//   AM_SetHandler(endpoint, 1, on_question);
//   AMX_SPMDBarrier();
//   ...
//   AMX_SPMDBarrier();
//   AMX_SPMDExit(0);
//
// Collective calls are made by all processes, in the same order: AMX_SPMDStartup(),
// AMX_SPMDBarrier() and AMX_SPMDAllGather(). They wait for all, run handlers meanwhile, and return
// AM_ERR_IN_USE in a handler. Calls before AMX_SPMDStartup() return AM_ERR_NOT_INIT.
//
// Only the thread that made the start makes the collective calls; calls that only read may be made
// by any thread.
#ifndef SPLITPHASE_AM_C_SPMD_H
#define SPLITPHASE_AM_C_SPMD_H

#include "am/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Joins the job, as AM_Init() does, and makes a bundle (AM_SEQ) with one endpoint, which has a tag
// of this job's own, no segment, and at index r the endpoint of process r. They are the caller's to
// use, and to free. `argc` and `argv` are taken as AMUDP's are and left as they are, as the
// launcher's options are not among them; `network_depth` likewise: windows need no size.
// `network_id` gets a number that all processes of this job have, and other jobs have not; NULL:
// not wanted.
//
// Collective. AM_ERR_RESOURCE: no job can be joined. AM_ERR_IN_USE: a second time.
int AMX_SPMDStartup(int* argc, char*** argv, int network_depth, uint64_t* network_id, eb_t* bundle,
                    ep_t* endpoint);

// This process, 0 to AMX_SPMDNumProcs() - 1, and how many there are; -1 before the start.
int AMX_SPMDMyProc(void);
int AMX_SPMDNumProcs(void);

// Which processes share a machine, and so memory: nodes have the numbers 0 to AMX_SPMDNumNodes() -
// 1. The node of `process`; that of this process is the one of AMX_SPMDMyProc(). -1: before the
// start, or there is no such process. Costs a search among the nodes at most. Extensions.
int AMX_SPMDNodeOf(int process);
int AMX_SPMDNumNodes(void);

// No process returns before all have called. Messages sent before may still be in flight.
int AMX_SPMDBarrier(void);

// Each process gives `nbytes` bytes, the same number everywhere; all get all of them, by process,
// at `destination`, which has room for nbytes * AMX_SPMDNumProcs(). A barrier, too.
int AMX_SPMDAllGather(const void* source, void* destination, size_t nbytes);

// A variable of the environment of process 0, as it was at the start: where the job was started,
// that may be others than here. NULL: it has none such, or nothing was started. The string is valid
// until the process ends.
const char* AMX_SPMDgetenvMaster(const char* name);
// All of them, as environ has them: strings "NAME=VALUE", and NULL behind the last. NULL: nothing
// was started. Valid as long. An extension.
const char* const* AMX_SPMDenvironMaster(void);

// 1: this process is one of the job, as all are that call it; no master process stays behind here.
#define AMX_SPMDIsWorker(argv) ((void)(argv), 1)

// Ends all processes of the job, with the exit code `code`, 0 to 255. Does not return, and does not
// wait: what is in flight is lost, so processes that all reach their ends pass a barrier before.
// May be called by any process at any time, in handlers, in signal handlers and by any thread. If
// several call it, the first decides on the code. In each process the exit callback runs, and then
// the standard output is flushed; what exit() does besides is not done.
//
// Under splitcrun, and without a launcher, this is quiet, reaches processes that compute or sleep
// too, and the callbacks have two seconds. While statistics or a trace are wanted (`--stats`,
// `--trace`), code 0 waits for the others, ten seconds at most, so that there is something to
// report, unless a handler or another thread than that of AMX_SPMDStartup() calls it, or another
// thread has a bundle of its own; signal handlers may not then. Under other launchers a process
// leaves by itself. With code 0 it does what exit(0) does, and waits for the others: so call it
// outside handlers and signal handlers, in the thread of AMX_SPMDStartup(); elsewhere the job ends
// with a sentence and code 1. With another code the launcher ends the others, with its own words,
// and their callbacks do not run.
//
// Before the start: ends this process.
#if defined(__cplusplus)
[[noreturn]]
#else
_Noreturn
#endif
void AMX_SPMDExit(int code);

// What is called in each process when the job ends by AMX_SPMDExit(), once, with the code. It runs
// in a thread of the library's, while those of the program may still run (or in the one that exits,
// where that waits for the others), and may not call the library. NULL: nothing. Any time, any
// thread.
int AMX_SPMDSetExitCallback(void (*callback)(int code));

// What ends this process at AMX_SPMDExit(), after the exit callback: _exit() at first. A runtime
// that has something to take down last sets a function of its own, before any process may exit; it
// runs where the exit callback does, or in the thread that calls AMX_SPMDExit() if that callback
// does not return, and so it may only do what a signal handler may. If it returns, _exit() follows.
// It is not called where AMX_SPMDExit() ends the process as exit(0) does.
extern void (*AMX_SPMDkillmyprocess)(int code);

#ifdef __cplusplus
}
#endif

#endif
