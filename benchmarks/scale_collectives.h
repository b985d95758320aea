// What collective calls take in jobs that no machine here has: the schedules that the library would
// follow there, performed with the costs that were measured of one message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "am/collective/choice.h"

namespace bench {

// LogGP (Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: incorporating long messages into the LogP
// model", SPAA 1995), in microseconds.
struct Network {
  double overhead;  // o: of the processor, at each end of a message
  double latency;   // L
  double per_byte;  // G
};

struct Prediction {
  double us;                  // until the last member has left
  double work_us;             // of all messages, if one processor did everything, the network, too
  std::uint32_t connections;  // of the member that talks with most others
};

struct NamedCall {
  std::string name;
  am::schedule::Call call;
  bool then_a_barrier = false;  // it is measured with one, as not everybody waits in the call
};
// Those that are measured and predicted, of little and of much.
std::vector<NamedCall> predicted_calls();

// Of a call that `nodes` processes make, one a node, all at the same time. What each combines and
// copies costs nothing. Takes seconds with 65,536.
Prediction predict(const am::schedule::Call& call, std::uint32_t nodes, const Network& network);

}  // namespace bench
