// The protocol of a rendezvous's connections once they are established: frames, each a header and
// its bytes. All processes run on machines of one kind, so numbers are sent as they are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/types/types.h"

namespace am {

enum class FrameKind : std::uint32_t {
  kMine = 1,      // to rank 0: my blob
  kAll = 2,       // from rank 0, or passed on: what all have said (am/job/bootstrap/packing.h)
  kFinished = 3,  // I may leave from here on
  kEnd = 4,       // leave now: exit code, and why
};

struct FrameHead {
  FrameKind kind;
  std::uint32_t bytes;
};

struct Frame {
  FrameKind kind;
  std::vector<std::byte> bytes;
};

// Head and bytes, ready to be sent.
std::vector<std::byte> frame_bytes(FrameKind kind, std::span<const std::byte> bytes);

// A frame that ends the job.
std::vector<std::byte> end_frame(int exit_code, std::string_view why);

// The exit code (never 0) and the text of such a frame.
struct End {
  int exit_code;
  std::string why;
};
End read_end(const Frame& frame);

// Takes bytes as they come and gives frames.
class FrameReader {
 public:
  explicit FrameReader(std::uint32_t processes);
  // False: no process of this job said that.
  [[nodiscard]] bool add(std::span<const std::byte> bytes, std::vector<Frame>& frames);

 private:
  const std::size_t max_bytes_;
  std::vector<std::byte> rest_;
};

}  // namespace am
