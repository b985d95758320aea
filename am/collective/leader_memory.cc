#include "am/collective/leader_memory.h"

#include "am/route/port.h"

namespace am {

bool LeaderMemory::works(Port& port) noexcept {
  const Port::Inside inside(port);
  return port.link().can().ordered_write >= kHalf;
}

LeaderMemory::LeaderMemory(Port& port) : port_(port), memory_(2 * kHalf) {
  const Port::Inside inside(port);
  registration_ = port.link().can().registrar->register_memory(memory_);
}

LeaderMemory::~LeaderMemory() {
  const Port::Inside inside(port_);
  registration_.reset();
}

}  // namespace am
