// Reads of another endpoint's segment: a medium request to handler 0, which no program has, and a
// long reply to a handler of the reader.

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>

#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/untyped.h"

namespace am {
namespace {

// The payload of the request.
struct Record {
  std::uint64_t source;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t handler;
  std::uint32_t words;
  std::array<std::uint32_t, packet::kMaxWords> arguments;
};

bool read(std::span<const std::byte> payload, Record& record) {
  if (payload.size() != sizeof record) return false;
  std::memcpy(&record, payload.data(), sizeof record);
  return record.handler > 0 && record.handler < kHandlers && record.words <= packet::kMaxWords;
}

Record record_of(const UntypedGet& get) {
  Record record{get.source,
                get.offset,
                get.bytes,
                get.handler,
                static_cast<std::uint32_t>(get.arguments.size()),
                {}};
  std::ranges::copy(get.arguments, record.arguments.begin());
  return record;
}

// `record` outlives it.
UntypedRequest request_for(const Record& record) {
  return {.kind = Kind::kMedium, .payload = std::as_bytes(std::span(&record, 1))};
}

}  // namespace

void Endpoint::check(const UntypedGet& get, const char* call) const {
  check_untyped(bundle(), call, "a get", get.handler, get.arguments.size());
  Status fits = check_place(segment(), get.offset, get.bytes);
  if (!parts_.handlers.has(get.handler)) fits = Status::kBadHandler;
  if (fits == Status::kDelivered) return;
  bundle().refuse(call, "what is asked for has no place here: " + std::string(describe(fits)));
}

void Endpoint::get_index(To to, const UntypedGet& get) {
  check(get, "get_index");
  parts_.refuse_waiting(to.value, "get_index");
  const Record record = record_of(get);
  send_index(to, "get_index", request_for(record));
}

bool Endpoint::try_get_index(std::uint32_t to, const UntypedGet& get) {
  check(get, "try_get_index");
  parts_.refuse_in_handler(to, "try_get_index");
  const Record record = record_of(get);
  return try_send_index(to, "try_get_index", request_for(record));
}

// A reply that finds no memory must not be lost: the request comes back then.
Status serve_get(EndpointParts& parts, Delivery& delivery) try {
  Record record;
  if (!read(delivery.payload, record)) return Status::kBadHandler;
  const std::span<std::byte> segment = parts.admission.segment;
  const Status status = check_place(segment, record.source, record.bytes);
  if (status != Status::kDelivered) return status;
  UntypedMessage(delivery, 0, kGetShape)
      .reply_index_long(static_cast<HandlerIndex>(record.handler), record.offset,
                        bytes_at(segment, record.source, record.bytes),
                        std::span(record.arguments).first(record.words));
  ++parts.stats[Kind::kMedium].received(Role::kRequest);
  return Status::kDelivered;
} catch (const std::exception&) {
  return Status::kCongestion;
}

// What it was to the program.
void show_as_get(Returned& returned) noexcept {
  static thread_local Record record;
  const bool is_get = returned.handler == 0 && returned.role == Role::kRequest &&
                      returned.kind == Kind::kMedium && read(returned.payload, record);
  if (!is_get) return;
  returned.get = true;
  returned.kind = Kind::kLong;
  returned.handler = static_cast<HandlerIndex>(record.handler);
  returned.arguments = std::as_bytes(std::span(record.arguments).first(record.words));
  returned.payload = {};
  returned.segment_offset = record.source;
  returned.segment_bytes = record.bytes;
}

}  // namespace am
