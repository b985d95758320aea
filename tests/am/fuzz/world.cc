#include "tests/am/fuzz/world.h"

#include <array>

#include "am/channel/channels.h"
#include "am/channel/ends.h"
#include "am/far/far_memory.h"
#include "am/route/port.h"
#include "am/zero_copy/engine.h"

namespace am::fuzz {
namespace {

constexpr Tag kTag = 7;
constexpr std::uint64_t kTagOfPost = 5;
constexpr Strided kColumns{.run = 64, .rows = 100, .row_stride = 256};

void on_pong(Reply, std::uint64_t) {}
void on_block_back(Reply, std::span<std::byte>) {}
void on_line_back(Reply, std::span<const std::byte>, int) {}
void on_ping(Request request, std::uint64_t n) { std::move(request).reply<&on_pong>(n); }
void on_line(Request request, std::span<const std::byte> line, int n) {
  std::move(request).reply_medium<&on_line_back>(line, n);
}
void on_block(Request request, std::span<std::byte> block) {
  std::move(request).reply_long<&on_block_back>(0, block);
}
void on_add(OneWay, std::array<std::uint32_t, 16>) {}
void on_announced(ZeroCopyRequest& request) { request.match(kTagOfPost); }
void on_dropped(ZeroCopyRequest&, int) {}

Router::Options options_of(Rank me) {
  return {.rank = me,
          .size = World::kProcesses,
          .segment_bytes = World::kSegment,
          .near = 1,
          .leaders = {0, 1, 2},
          .node = me,
          .abort = [](int, const std::string& sentence) { throw Refused(sentence); },
          .watch = nullptr};
}

shmem::Region region() {
  return shmem::Region::create(
      {.what = "a fuzzed segment", .bytes = RegionHeader::kBytes + World::kSegment});
}

}  // namespace

World::World(Rank me, const FakeLinkOptions& options)
    : router_(options_of(me), region()),
      source_(kBlock),
      target_(kBlock),
      posted_(kBlock),
      small_(100),
      local_(3 * kBlock) {
  auto link = std::make_unique<FakeLink>(options);
  link_ = link.get();
  router_.add_port(std::make_unique<Port>(router_, std::move(link)));
  process_.emplace(router_);
  process_->far_memory()->learned_stores().enable();
  barrier_.emplace(router_);
  bundle_ = std::make_unique<Bundle>(*process_);
  endpoint_ = std::make_unique<Endpoint>(*bundle_);
  endpoint_->add_handlers<&on_ping, &on_line, &on_block, &on_add, &on_pong, &on_line_back,
                          &on_block_back>();
  endpoint_->set_tag(kTag);
  endpoint_->on_returned([](const Returned&) {});
  const std::span segment(router_.segment(), kSegment);
  whole_ = std::make_unique<ReceiveChannel>(*bundle_, segment.subspan(100'000, kBlock),
                                            [this] { whole_->ready(); });
  strided_ = std::make_unique<ReceiveChannel>(*bundle_, segment.data() + 200'000, kColumns,
                                              [this] { strided_->ready(); });
  // Endpoints have equal names in all processes but for the rank.
  zero_ = std::make_unique<ZeroCopy>(std::make_unique<zero_copy::Engine>(
      *bundle_, zero_copy::Engine::Setup{
                    .pool_bytes = 1 << 16,
                    .connect =
                        [](Endpoint& wire) {
                          wire.set_tag(kTag);
                          for (Rank rank = 0; rank < kProcesses; ++rank) {
                            wire.map(rank, {rank, wire.name().serial, {}}, kTag);
                          }
                        },
                    .exchange =
                        [](const zero_copy::Neighbours::Card& mine) {
                          return std::vector<zero_copy::Neighbours::Card>(kProcesses, mine);
                        }}));
  zero_->add_handlers<&on_announced, &on_dropped>();
  from_ = std::make_unique<ZeroCopyBuffer>(*zero_, source_, ZeroCopyCallback(), ZeroCopyMode::kReg);
  to_ = std::make_unique<ZeroCopyBuffer>(
      *zero_, target_, [](const ZeroCopyDone&) {}, ZeroCopyMode::kUnreg);
  by_message_ = std::make_unique<ZeroCopyBuffer>(*zero_, small_, [](const ZeroCopyDone&) {});
  completion_.done = [](link::Completion&) {};
}

World::~World() = default;

World::Names World::names() const {
  return {endpoint_->name(), whole_->handle(), strided_->handle(),
          from_->info(),     to_->info(),      by_message_->info()};
}

void World::talk_to(Rank peer, const Names& names) {
  peer_ = peer;
  theirs_ = names;
  endpoint_->map(peer, names.endpoint, kTag);
  start_accesses();
  start_transfers();
  out_ = std::make_unique<SendChannel>(*bundle_, names.strided);
  out_->associate(std::span<const std::byte>(local_).first(kColumns.bytes()));
  out_->put();
  const int round = router_.rank() < peer ? 0 : 1;
  const link::Barrier packet{link::make_header(link::Type::kBarrier, sizeof packet, 0,
                                               static_cast<std::uint8_t>(round | link::kMore)),
                             1};
  link_->send(peer, std::as_bytes(std::span(&packet, 1)));
}

// By messages, and stores that repeat.
void World::start_accesses() {
  OneSided& access = process_->far_memory()->one_sided();
  const std::span local(local_);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{8}, kBlock}) {
    const auto at = link::RemoteKey::in_segment(0);
    static_cast<void>(
        access.try_access(link::RmaAccess::read(peer_, at, local.first(bytes)), completion_));
    static_cast<void>(
        access.try_access(link::RmaAccess::write(peer_, at, local.last(bytes)), completion_));
  }
  static_cast<void>(access.try_store(peer_, 512, local.first(100), 1024));
  static_cast<void>(access.try_store(peer_, 512, local.first(8), 1024));
  const link::Count count{link::make_header(link::Type::kCount, sizeof count), 1024, 100};
  link_->send(peer_, std::as_bytes(std::span(&count, 1)));
  for (int i = 0; i < 3; ++i)
    process_->far_memory()->learned_stores().find(peer_, 4096, 8192, 1024);
  struct {
    link::Access head;
    ChannelHandle to;
  } relay{{link::make_header(link::Type::kRelay, sizeof relay, sizeof relay.to,
                             link::kFirstRelay | link::kLastRelay),
           0, detail::arrival_of(theirs_.whole)},
          whole_->handle()};
  link_->send(peer_, std::as_bytes(std::span(&relay, 1)));
  ++channels_of(*bundle_).relays_awaited;
}

void World::start_transfers() {
  zero_->post(kTagOfPost, posted_, [](const ZeroCopyDone&) {});
  to_->get(theirs_.source);
  from_->put(theirs_.target);
  by_message_->get(theirs_.small);
  by_message_->put(theirs_.small);
  zero_->request_zero_copy<&on_announced>(peer_, source_, ZeroCopyCallback());
  zero_->request_zero_copy<&on_dropped>(peer_, std::span(source_).first(100), ZeroCopyCallback(),
                                        4);
}

// The next message, once it has credit.
void World::talk() {
  const std::span<const std::byte> payload(local_);
  bool sent = false;
  switch (said_) {
    case 0: sent = endpoint_->try_request<&on_ping>(peer_, std::uint64_t{41}); break;
    case 1: sent = endpoint_->try_request_medium<&on_line>(peer_, payload.first(1000), 3); break;
    case 2:
      sent = endpoint_->try_request_long<&on_block>(peer_, 300'000, payload.first(2000));
      break;
    case 3:
      sent = endpoint_->try_request_long<&on_block>(peer_, 300'000, payload.first(kBlock));
      break;
    case 4:
      sent = endpoint_->try_request<&on_add>(peer_, std::array<std::uint32_t, 16>{1, 2, 3});
      break;
    case 5: {
      const std::uint32_t words[] = {1, 2};
      endpoint_->request_index(peer_, 99, words);  // nobody's: it comes back
      sent = true;
      break;
    }
    default: return;
  }
  if (sent) ++said_;
}

void World::step(Rank from, std::span<const std::byte> packet) {
  if (!packet.empty()) link_->put(from, packet);
  bundle_->poll();
  talk();
}

}  // namespace am::fuzz
