#include "am/types/types.h"

namespace am {

PeerDied::PeerDied(Rank self, const std::string& call, Rank dead)
    : Error("rank " + std::to_string(self) + ": " + call + ": rank " + std::to_string(dead) +
            " has died, and this call needs all processes of the job; go on with requests, which "
            "come back if they are for the dead, and end with Job::finish()"),
      rank(dead) {}

}  // namespace am
