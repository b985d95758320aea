// Says on standard error what this process is at when it has not done anything for a while. Changes
// nothing else: a job that hangs goes on hanging, and one that is slow goes on.
#pragma once

namespace soak {

void watch_for_standstill();

}  // namespace soak
