#include "am/job/config/transport_text.h"

#include <span>
#include <string>
#include <utility>

#include "am/types/types.h"

namespace am {
namespace {

template <class Value>
using Name = std::pair<std::string_view, Value>;

constexpr Name<LinkChoice> kLinks[] = {{"fabric", LinkChoice::kFabric},
                                       {"datagram", LinkChoice::kDatagram}};
constexpr Name<Way> kWays[] = {{"messages", Way::kMessages},
                               {"specialised", Way::kSpecialised},
                               {"datagram", Way::kDatagram},
                               {"memory", Way::kMemory}};

// "a, b or c"
template <class Value>
std::string list_of(std::span<const Name<Value>> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i].first);
  }
  return list;
}

template <class Value>
Value find(std::string_view setting, std::string_view text, const char* what,
           std::span<const Name<Value>> names) {
  for (const auto& [name, value] : names) {
    if (name == text) return value;
  }
  throw Error(std::string(setting) + "=" + std::string(text) + ": no way for " + what +
              " to travel; write " + list_of(names));
}

}  // namespace

LinkChoice parse_link(std::string_view text) {
  return find<LinkChoice>("SPLITC_LINK", text, "data", kLinks);
}

Way parse_way(std::string_view text) { return find<Way>("SPLITC_WAY", text, "accesses", kWays); }

}  // namespace am
