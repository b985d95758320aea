// A process that MPICH's mpiexec, or srun --mpi=pmi2, started: it meets the others through its
// launcher, which keeps keys and values for them. The protocol is PMI version 1: lines of text,
// "cmd=get kvsname=k key=a", over the socket PMI_FD. No library is needed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"

namespace am {

class BootstrapPmi1 final : public Bootstrap {
 public:
  // Opens the conversation with the launcher. From here on exec closes the socket. Throws Error if
  // its other end is closed, or no launcher that speaks PMI-1, or if an MPI library of this process
  // uses it already.
  explicit BootstrapPmi1(const PmiConnection& pmi);

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "PMI-1"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override;
  void finished() override;

 private:
  using Blobs = std::vector<std::vector<std::byte>>;
  using Fields = std::map<std::string, std::string, std::less<>>;

  void report_abort(int exit_code, std::string_view sentence) override;

  void leave_launcher();
  // Sends a line and returns the fields of its answer, which must be the command `answer`.
  Fields ask(const std::string& line, std::string_view answer);
  void send(std::string_view line);
  std::string receive();
  std::string get(const std::string& key);
  void put_bytes(const char* kind, Rank rank, std::span<const std::byte> bytes);
  std::optional<std::vector<std::byte>> get_bytes(const char* kind, Rank rank,
                                                  std::size_t max_bytes);
  std::string key(const char* kind, Rank rank, std::size_t part) const;
  Blobs blobs_of(Rank first, std::uint32_t count);
  Blobs blobs_of_groups();
  [[noreturn]] void fail(const std::string& what) const;

  const Rank rank_;
  const std::uint32_t size_;
  const int fd_;
  std::string received_;  // what follows the last line that was read
  std::string space_;     // the name of the job's keys and values
  std::size_t value_characters_ = 0;
  std::uint32_t round_ = 0;  // of exchange(); every round has keys of its own
  bool finished_ = false;
};

// Bytes as values of PMI-1, which are characters without spaces.

// How many, ":", and four characters for every three: letters, digits, '-' and '_', which every
// launcher takes.
std::string to_pmi_text(std::span<const std::byte> bytes);

// How many characters a text that begins like this has in all. std::nullopt: that is no such text,
// or one of more than `max_bytes` bytes.
std::optional<std::size_t> pmi_text_size(std::string_view begin, std::size_t max_bytes);

// std::nullopt: not what to_pmi_text() made of at most `max_bytes` bytes.
std::optional<std::vector<std::byte>> from_pmi_text(std::string_view text, std::size_t max_bytes);

}  // namespace am
