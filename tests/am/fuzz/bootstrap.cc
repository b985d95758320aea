// What processes say to one another at a rendezvous once they have met: frames, and the blobs and
// sentences in them.
#include "am/job/bootstrap/bootstrap.h"

#include <cstdlib>

#include "am/job/bootstrap/packing.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {
namespace {

constexpr std::uint32_t kProcesses = 3;

Bytes all_blobs() {
  Packer packer;
  Bytes blob(5, std::byte{'x'});
  packer.add(blob);
  blob.resize(Bootstrap::kMaxBlob);
  packer.add(blob);
  blob[400] = std::byte{'y'};
  packer.add(blob);
  return packer.take();
}

}  // namespace

const int kUsualCases = 100'000;

// Each record is what one recv() gives.
std::vector<Records> valid_inputs() {
  const Bytes mine = frame_bytes(FrameKind::kMine, Bytes(40));
  const Bytes all = frame_bytes(FrameKind::kAll, all_blobs());
  const auto middle = all.begin() + 300;
  return {{mine, frame_bytes(FrameKind::kFinished, {}), end_frame(7, "no more room")},
          {{all.begin(), middle}, {middle, all.end()}, mine}};
}

bool decode(const Records& input) {
  FrameReader reader(kProcesses);
  std::vector<Frame> frames;
  std::size_t given = 0, taken = 0;
  for (const Bytes& bytes : input) {
    given += bytes.size();
    if (!reader.add(bytes, frames)) return false;
  }
  for (const Frame& frame : frames) {
    taken += sizeof(FrameHead) + frame.bytes.size();
    if (frame.kind == FrameKind::kEnd && read_end(frame).exit_code == 0) std::abort();
    if (frame.kind == FrameKind::kAll && !unpack(frame.bytes, kProcesses)) return false;
  }
  if (taken > given) std::abort();
  return taken == given;
}

}  // namespace am::fuzz
