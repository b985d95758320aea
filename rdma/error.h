// What the calls of rdma throw when they cannot do their work, and libfabric's error numbers.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace rdma {

// One sentence: what was wanted, the cause, the remedy.
struct Error : std::runtime_error {
  explicit Error(const std::string& sentence, int error_code = 0)
      : std::runtime_error(sentence), code(error_code) {}
  int code;  // a positive fi_errno; 0: the error is not libfabric's
};

// libfabric's error numbers, positive (FI_EAGAIN, FI_ENOKEY, ...). Those that are errno values as
// well compare equal to the std::errc of that value.
const std::error_category& category();

// Whether that fi_errno (either sign) says that this process or this machine has run out of
// something: open files, memory, memory that may be pinned, buffers, ports, keys. An operation that
// cannot be started for such a reason says nothing about the process that it was meant for.
bool is_local_shortage(long fi_result) noexcept;

// Whether that fi_errno (either sign) says that the cause lies in this process or on this machine:
// a shortage; memory that is not there; something that the provider or the system does not do, or
// not for this user. All others may be the other process's or the network's.
bool is_local(long fi_result) noexcept;

// What to do about that fi_errno (either sign), beginning with "; ", or "" when nothing is known.
std::string remedy(long fi_result);

// Throws Error "<what> (<libfabric's text>)<remedy>". `fi_result`: what a call returned, either
// sign. FI_EIO becomes FI_EMFILE where hardly any more files can be opened: providers that cannot
// make a socket report it so.
[[noreturn]] void fail(const std::string& what, long fi_result);

}  // namespace rdma
