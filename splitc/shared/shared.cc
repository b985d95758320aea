#include "splitc/shared/shared.h"

#include <cstring>

#include "splitc/collective/barrier.h"
#include "splitc/pointer/allocate.h"

namespace splitc::detail {
namespace {

// All variables, in the order in which they were made: the same in all processes, as that is the
// order of their construction in one program.
constinit SharedVariable* first_variable = nullptr;

std::uint64_t room_of(std::size_t bytes) {
  constexpr std::uint64_t kAlign = SharedVariable::kAlign;
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

SharedVariable::SharedVariable(const void* initial, std::size_t bytes) noexcept
    : initial_(initial), bytes_(bytes) {
  SharedVariable** end = &first_variable;
  while (*end != nullptr) end = &(*end)->next_;
  *end = this;
}

SharedVariable::~SharedVariable() {
  SharedVariable** at = &first_variable;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void SharedVariable::refuse_use(Call call) const {
  if (place.bases == nullptr) {
    refuse(call,
           "no program is running, so this variable has no memory; use it between the start of "
           "run() and its end");
  }
  refuse(call,
         "this variable was made after the program had started, so it has no memory; make it at "
         "namespace scope");
}

void SharedMemory::allocate() {
  std::uint64_t bytes = 0;
  std::uint64_t sizes = 0;
  for (SharedVariable* x = first_variable; x != nullptr; x = x->next_) {
    bytes += room_of(x->bytes_);
    sizes = (sizes ^ x->bytes_) * 0x9e3779b97f4a7c15;
  }
  if (bytes == 0) return;
  std::uint64_t offset = all_allocate(bytes, "shared variables", sizes);
  for (SharedVariable* x = first_variable; x != nullptr; x = x->next_) {
    x->offset_ = offset;
    x->mine_ = mapped(my_proc(), offset);
    std::memcpy(x->mine_, x->initial_, x->bytes_);
    offset += room_of(x->bytes_);
  }
  meet("shared variables");  // all have their values
}

SharedMemory::~SharedMemory() {
  for (SharedVariable* x = first_variable; x != nullptr; x = x->next_) {
    x->offset_ = 0;
    x->mine_ = nullptr;
  }
}

}  // namespace splitc::detail
