#include "am/channel/multicast.h"

#include <algorithm>
#include <map>
#include <string>

#include "am/channel/channels.h"
#include "am/core/bundle.h"
#include "am/route/port.h"

namespace am {
namespace {

using Handles = std::vector<ChannelHandle>;

// Who sends to whom. Node 0 is the sender's; the others are numbered in the order of the list.
struct Tree {
  Handles near;                // receivers of node 0
  std::vector<Handles> nodes;  // of node 1, 2, ...; the first of each passes on to the rest

  // Node `i` gets it from this one: the tree that doubles those who have it in every round.
  static std::size_t parent(std::size_t i) noexcept { return i & (i - 1); }

  // To whom the first of `node`, or the sender as node 0, sends by itself.
  Handles targets(std::size_t node) const {
    Handles list = node == 0 ? near : Handles(nodes[node - 1].begin() + 1, nodes[node - 1].end());
    for (std::size_t i = nodes.size(); i >= 1; --i) {  // the largest subtree first
      if (parent(i) == node) list.push_back(nodes[i - 1].front());
    }
    return list;
  }
};

Tree plan(std::span<const ChannelHandle> receivers, std::uint32_t own_node) {
  Tree tree;
  std::map<std::uint32_t, std::size_t> places;  // in tree.nodes, by node
  for (const ChannelHandle& handle : receivers) {
    if (handle.node == own_node) {
      tree.near.push_back(handle);
      continue;
    }
    const auto [found, is_new] = places.try_emplace(handle.node, tree.nodes.size());
    if (is_new) tree.nodes.emplace_back();
    tree.nodes[found->second].push_back(handle);
  }
  return tree;
}

void send_order(link::Link& link, std::uint8_t asker, const ChannelHandle& relay,
                const ChannelHandle& to, std::uint8_t detail) {
  struct {
    link::Access head;
    ChannelHandle to;
  } packet{{link::make_header(link::Type::kRelay, sizeof packet, sizeof to, detail), asker,
            detail::arrival_of(relay)},
           to};
  link.send(relay.rank, std::as_bytes(std::span(&packet, 1)));
}

// Sends `relay` the order to pass puts on to `targets`; false if there are none.
bool send_orders(link::Link& link, std::uint8_t asker, const ChannelHandle& relay,
                 const Handles& targets) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const bool last = i + 1 == targets.size();
    send_order(link, asker, relay, targets[i],
               static_cast<std::uint8_t>((i == 0 ? link::kFirstRelay : 0) |
                                         (last ? link::kLastRelay : 0)));
  }
  return !targets.empty();
}

}  // namespace

MulticastChannel::MulticastChannel(Bundle& bundle, std::span<const ChannelHandle> receivers) {
  for (const ChannelHandle& handle : receivers) {
    if (handle.shape.bytes() == receivers.front().shape.bytes()) continue;
    bundle.refuse("MulticastChannel", "the receivers' buffers have " +
                                          std::to_string(receivers.front().shape.bytes()) +
                                          " and " + std::to_string(handle.shape.bytes()) +
                                          " bytes; one put fits only equal ones");
  }
  const Tree tree = plan(receivers, bundle.router().options().node);
  for (const ChannelHandle& handle : tree.targets(0)) out_.emplace_back(bundle, handle);
  Channels& channels = channels_of(bundle);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Port::Lock network(*bundle.router().port());
    link::Link& link = bundle.router().port()->link();
    if (send_orders(link, channels.index, tree.nodes[i].front(), tree.targets(i + 1)))
      ++channels.relays_awaited;
  }
  bundle.wait_until([&channels] { return channels.relays_awaited == 0; }, Wake::kRung,
                    [] {
                      return Reason{.call = "MulticastChannel",
                                    .needs = "answers of the processes that pass it on"};
                    });
}

void MulticastChannel::associate(std::span<const std::byte> source) {
  for (SendChannel& out : out_) out.associate(source);
}
void MulticastChannel::associate(const std::byte* first, const Strided& shape) {
  for (SendChannel& out : out_) out.associate(first, shape);
}
void MulticastChannel::alternate(std::span<const std::byte> source) {
  for (SendChannel& out : out_) out.alternate(source);
}
void MulticastChannel::put(CheckedCall call) {
  for (SendChannel& out : out_) out.put(call);
}
bool MulticastChannel::reusable() const noexcept {
  return std::ranges::all_of(out_, [](const SendChannel& out) { return out.reusable(); });
}
void MulticastChannel::close() {
  for (SendChannel& out : out_) out.close();
  out_.clear();
}

}  // namespace am
