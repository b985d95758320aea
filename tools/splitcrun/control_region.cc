#include "tools/splitcrun/control_region.h"

#include "am/job/config/control.h"

namespace am::launcher {

shmem::Region make_control(std::uint32_t size, bool survives) {
  shmem::Region region =
      shmem::Region::create({.what = "splitcrun control", .bytes = control_bytes(size)});
  Control& control = control_at(region.data());
  control.magic = Control::kMagic;
  control.version = Control::kVersion;
  control.size = size;
  control.survives = survives ? 1 : 0;
  return region;
}

}  // namespace am::launcher
