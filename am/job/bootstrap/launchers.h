// The ways in which a process joins its job, one for each launcher. Each function throws Error if
// the process cannot; make_bootstrap() chooses (am/job/make_bootstrap.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/job/config/out_of_band.h"

namespace am {

// A process that splitcrun started: it meets the others in the control region
// (am/job/config/control.h) behind `job_fd`, which stays open and is from here on closed by exec.
// Throws Error: that is no control region of this version and size, or another living process
// already is this rank.
std::unique_ptr<Bootstrap> join_splitcrun(Rank rank, std::uint32_t size, int job_fd);

// A process of a job that another runtime holds together: it meets the others by that runtime's
// collectives (am/job/config/out_of_band.h). Throws Error: rank and size do not fit, or a function
// is missing.
std::unique_ptr<Bootstrap> join_runtime(const OutOfBand& others);

// For a process that cannot join such a job, or whose job is not there to end it: prints
// `sentence`, ends the others by `others.abort`, and leaves with `exit_code`, from 1 to 255. Any
// thread.
[[noreturn]] void end_all(const OutOfBand& others, int exit_code, std::string_view sentence);

// A process of a launcher that offers PMIx: Open MPI's mpirun, srun --mpi=pmix, and others. Says
// hello to the launcher's server. Throws Error: the library is missing, or no server answers.
std::unique_ptr<Bootstrap> join_pmix();

// A process that MPICH's mpiexec, or srun --mpi=pmi2, started: it meets the others through its
// launcher, which keeps keys and values for them. The protocol is PMI version 1: lines of text,
// "cmd=get kvsname=k key=a", over the socket PMI_FD. No library is needed. From here on exec closes
// the socket. Throws Error if its other end is closed, or no launcher that speaks PMI-1, or if an
// MPI library of this process uses it already.
std::unique_ptr<Bootstrap> join_pmi1(const PmiConnection& pmi);

// Bytes as values of PMI-1, which are characters without spaces.

// How many, ":", and four characters for every three: letters, digits, '-' and '_', which every
// launcher takes.
std::string to_pmi_text(std::span<const std::byte> bytes);

// How many characters a text that begins like this has in all. std::nullopt: that is no such text,
// or one of more than `max_bytes` bytes.
std::optional<std::size_t> pmi_text_size(std::string_view begin, std::size_t max_bytes);

// std::nullopt: not what to_pmi_text() made of at most `max_bytes` bytes.
std::optional<std::vector<std::byte>> from_pmi_text(std::string_view text, std::size_t max_bytes);

}  // namespace am
