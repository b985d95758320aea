#pragma once

#include <cstdint>

namespace bench {

// What of a process's memory is in use, in KiB, as /proc/self reports it. Shared pages count for
// every process that has touched them through its own mapping.
struct Memory {
  std::uint64_t peak;            // VmHWM: the most that was resident at any time
  std::uint64_t resident;        // VmRSS: the sum of the next five
  std::uint64_t private_pages;   // RssAnon: heap, stacks, written data
  std::uint64_t files;           // RssFile: code and constants of program and libraries
  std::uint64_t own_segment;     // of this process's segment, the region's first page included
  std::uint64_t other_segments;  // of those of others, as far as this process has touched them
  std::uint64_t other_shared;    // mailboxes, own and others', and the launcher's page
  std::uint64_t share;           // Pss: shared pages divided by the number of their users

  // What a process costs beyond the segment it asked for.
  std::uint64_t beyond_segment() const noexcept { return peak - own_segment; }
};

// Of this process, which is `rank` of its job.
Memory measure_memory(std::uint32_t rank);

}  // namespace bench
