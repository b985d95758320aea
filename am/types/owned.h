#pragma once

#include "shmem/owned.h"

namespace am {

using shmem::Owned;

}  // namespace am
