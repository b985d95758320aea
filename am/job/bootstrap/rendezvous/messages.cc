#include "am/job/bootstrap/rendezvous/messages.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/packing.h"
#include "am/sodium/sodium.h"

namespace am {
namespace {

static_assert(sizeof(Proof) == Sodium::kHashBytes);

Proof hash(std::span<const std::byte> text, std::span<const std::byte> key) {
  const auto bytes = [](std::span<const std::byte> some) {
    return reinterpret_cast<const unsigned char*>(some.data());
  };
  Proof result;
  Sodium::get().generichash(reinterpret_cast<unsigned char*>(result.data()), result.size(),
                            bytes(text), text.size(), bytes(key), key.size());
  return result;
}

template <class T>
void append(std::vector<std::byte>& text, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  text.insert(text.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> begin_text(std::string_view label, const Challenge& challenge,
                                  const Hello& hello) {
  std::vector<std::byte> text;
  for (const char one : label) text.push_back(static_cast<std::byte>(one));
  append(text, challenge.nonce);
  append(text, hello.nonce);
  append(text, hello.rank);
  append(text, hello.size);
  return text;
}

// Adds those that are not there yet. Returns an error of getaddrinfo.
int add_addresses(const std::string& host, const std::string& port,
                  std::vector<SocketAddress>& all) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return error;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress address{.bytes = {}, .length = one->ai_addrlen};
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    const auto same = [&address](const SocketAddress& other) {
      return std::memcmp(&address.bytes, &other.bytes, sizeof(address.bytes)) == 0;
    };
    if (std::ranges::none_of(all, same)) all.push_back(address);
  }
  return 0;
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  Sodium::get().random_bytes(nonce.data(), nonce.size());
  return nonce;
}

Proof proof_of(std::string_view secret, std::span<const std::byte> text) {
  return hash(text, hash(std::as_bytes(std::span(secret)), {}));
}

bool same_proof(const Proof& a, const Proof& b) {
  return Sodium::get().compare(a.data(), b.data(), a.size()) == 0;
}

// The labels differ, so that nobody can send a proof back to where it came from.
Proof proof_of_hello(std::string_view secret, const Challenge& challenge, const Hello& hello) {
  return proof_of(secret, begin_text("hello", challenge, hello));
}

Proof proof_of_verdict(std::string_view secret, const Challenge& challenge, const Hello& hello,
                       const GreetingVerdict& verdict) {
  std::vector<std::byte> text = begin_text("verdict", challenge, hello);
  append(text, verdict.answer);
  append(text, verdict.detail);
  return proof_of(secret, text);
}

std::vector<SocketAddress> addresses_of(const Rendezvous& where, std::uint32_t rank) {
  std::vector<SocketAddress> all;
  const int error = add_addresses(where.host, where.port, all);
  if (where.host == "localhost") add_addresses("::1", where.port, all);
  if (!all.empty()) return all;
  throw Error(meeting_prefix(where, rank) + where.host + ": " + gai_strerror(error) +
              "; write the name or the address of rank 0's machine");
}

std::string meeting_prefix(const Rendezvous& where, std::uint32_t rank) {
  const bool colons = where.host.find(':') != std::string::npos;
  return "rank " + std::to_string(rank) + ": SPLITC_RENDEZVOUS=" + (colons ? "[" : "") +
         where.host + (colons ? "]:" : ":") + where.port + ": ";
}

void prepare_connection(int fd) {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));  // a refusal costs comfort only
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);  // ms
}

std::vector<std::byte> frame_bytes(FrameKind kind, std::span<const std::byte> bytes) {
  const FrameHead head{kind, static_cast<std::uint32_t>(bytes.size())};
  std::vector<std::byte> all(sizeof head + bytes.size());
  std::memcpy(all.data(), &head, sizeof head);
  if (!bytes.empty()) std::memcpy(all.data() + sizeof head, bytes.data(), bytes.size());
  return all;
}

std::vector<std::byte> end_frame(int exit_code, std::string_view why) {
  std::vector<std::byte> bytes(1 + why.size());
  bytes[0] = static_cast<std::byte>(exit_code);  // that is all exit() keeps
  if (!why.empty()) std::memcpy(bytes.data() + 1, why.data(), why.size());
  return frame_bytes(FrameKind::kEnd, bytes);
}

End read_end(const Frame& frame) {
  if (frame.bytes.empty()) return {1, ""};
  const int code = std::to_integer<int>(frame.bytes[0]);
  const auto* text = reinterpret_cast<const char*>(frame.bytes.data());
  return {code == 0 ? 1 : code, std::string(text + 1, frame.bytes.size() - 1)};
}

FrameReader::FrameReader(std::uint32_t processes)
    : max_bytes_(
          std::max<std::size_t>(2 * Bootstrap::kMaxSentence, processes * Packer::kMaxPacked)) {}

bool FrameReader::add(std::span<const std::byte> bytes, std::vector<Frame>& frames) {
  rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  while (rest_.size() - at >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, &rest_[at], sizeof(head));
    if (head.kind < FrameKind::kMine || head.kind > FrameKind::kEnd) return false;
    if (head.bytes > max_bytes_) return false;
    if (rest_.size() - at - sizeof(head) < head.bytes) break;
    const auto begin = rest_.begin() + static_cast<std::ptrdiff_t>(at + sizeof(head));
    frames.push_back({head.kind, {begin, begin + head.bytes}});
    at += sizeof(head) + head.bytes;
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

}  // namespace am
