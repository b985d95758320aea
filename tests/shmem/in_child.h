// Tests that need a second process, or one whose system refuses something.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace shmem::test {

// What `work` returns when a forked child runs it; "died: <how>" when the child does not return.
// An exception becomes its text. Reports a failure of the system itself by throwing.
std::string in_child(const std::function<std::string()>& work);

// The same in `count` children at once; `work` gets the number of its child, from 0.
std::vector<std::string> in_children(unsigned count,
                                     const std::function<std::string(unsigned)>& work);

// From here on, this process and its children get `error` from the system call `number`. Only where
// can_refuse_system_calls(): the kernel may have been built without that.
void refuse_system_call(int number, int error);
bool can_refuse_system_calls();

// Mounts an empty tmpfs of `bytes` on `folder`, for this process and its children only. False when
// the system grants no mount namespace.
bool mount_private_tmpfs(const std::string& folder, std::size_t bytes);

}  // namespace shmem::test
