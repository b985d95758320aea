#pragma once

namespace am::doctor {

// Joins the job as splitc::run() does, measures up to which sizes the algorithms of collective
// calls are the fastest between its processes, and prints that at process 0 as SPLITC_COLLECTIVES
// takes it (am/collective/limits.h). Returns the exit code: 2, and a sentence, unless there are
// several processes, each on a node of its own.
int tune(int argc, char** argv);

}  // namespace am::doctor
