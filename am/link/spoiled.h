#pragma once

#include "am/link/link.h"

namespace am::link {

// In a child that was forked (am/types/forked.h): `link` becomes one on which nothing comes and
// nothing leaves. What it was is not ended, as its connections are the parent's: who owns it
// forgets it instead of deleting it.
void spoil(Link& link) noexcept;

}  // namespace am::link
