#include "am/types/types.h"

const char SPLITPHASE_BUILD = SPLITPHASE_CHECKED;

namespace am {

std::string place_text(SourceLocation where) {
  if (where.line() == 0) return "";
  return std::string(" (at ") + where.file_name() + ":" + std::to_string(where.line()) + ")";
}

std::string refusal_text(Call call, const std::string& what) {
  return std::string(call.name) + ": " + what + place_text(call.where);
}

std::string refusal_text(Rank self, Call call, const std::string& what) {
  return "rank " + std::to_string(self) + ": " + refusal_text(call, what);
}

PeerDied::PeerDied(Rank self, Call call, Rank dead)
    : Error(refusal_text(self, call,
                         "rank " + std::to_string(dead) +
                             " has died, and this call needs all processes of the job; go on with "
                             "requests, which come back if they are for the dead, and end with "
                             "Job::finish()")),
      rank(dead) {}

const char* name_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::kShort: return "short";
    case Kind::kMedium: return "medium";
    case Kind::kLong: break;
  }
  return "long";
}

std::string_view describe(Status status) noexcept {
  switch (status) {
    case Status::kDelivered: return "delivered";
    case Status::kBadArguments:
      return "EBADARGS: the handler there takes other arguments or another kind of message";
    case Status::kBadTag: return "EBADTAG: the endpoint there has another tag";
    case Status::kBadHandler: return "EBADHANDLER: no handler there has that index";
    case Status::kBadSegmentOffset:
      return "EBADSEGOFF: the payload would begin outside the segment there";
    case Status::kBadLength: return "EBADLENGTH: the payload does not fit there";
    case Status::kBadEndpoint: return "EBADENDPOINT: there is no such endpoint any more";
    case Status::kBadEntry: return "EBADENTRY: no endpoint is mapped at that index";
    case Status::kCongestion: return "ECONGESTION: there was no memory for its payload";
    case Status::kUnreachable:
      return "EUNREACHABLE: its process has died; it may have handled this before";
    case Status::kReplyRejected: return "EREPLYREJECTED: the requester has not taken the reply";
  }
  return "unknown status";
}

}  // namespace am
