// Names of endpoints, from C and to C.
#pragma once

#include <cstring>

#include "am/c/types.h"
#include "am/types/types.h"

namespace am::c {

static_assert(sizeof(en_t) == sizeof(Name));

inline en_t to_c(const Name& name) noexcept {
  en_t bytes;
  std::memcpy(&bytes, &name, sizeof bytes);
  return bytes;
}

inline Name from_c(const en_t& bytes) noexcept {
  Name name;
  std::memcpy(&name, &bytes, sizeof name);
  return name;
}

}  // namespace am::c
