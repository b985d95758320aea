#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/observe/timeline.h"
#include "am/observe/trace.h"

namespace am {

// The file that process 0 writes.
class TraceFile {
 public:
  // Empties it, or makes it. Throws Error, of process `me`: it cannot be written.
  TraceFile(const std::string& path, Rank me) : file_(std::fopen(path.c_str(), "we")) {
    if (!file_) {
      throw Error("rank " + std::to_string(me) + ": Job: SPLITC_TRACE=" + path +
                  ": cannot write this file (" + std::strerror(errno) +
                  "); name one in a folder that exists and that you may write to");
    }
    std::setvbuf(file_.get(), nullptr, _IOFBF, std::size_t{1} << 20);
  }

  void append(std::string_view text) noexcept {
    if (error_ != 0) return;
    note(std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size());
  }
  // The last call: why not all of it is there; "": it is.
  std::string close() {
    note(std::fclose(file_.release()) == 0);  // some file systems say only here
    return error_ != 0 ? std::strerror(error_) : "";
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  void note(bool succeeded) noexcept {
    if (!succeeded && error_ == 0) error_ = errno != 0 ? errno : EIO;
  }

  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // an errno, the first
};

// What processes say to each other about their traces, by an endpoint of its own. Its constructor
// is collective.
//
// Thread rule: one thread, that of the collective calls. Its calls wait and run handlers; others
// answer meanwhile if they are in such a call, or in a barrier.
class TraceGathering {
 public:
  // `file`: process 0's, and there only.
  TraceGathering(Process& process, Exchange& exchange, TraceFile* file);

  Bundle& bundle() noexcept { return bundle_; }

  // The clock of process 0, less this one's, by the best of many questions.
  BestAnswer ask_clock();

  // Finds out which flows of `trace`, that others ask for, end here. Before their match().
  void add_ends(Trace& trace);
  // Marks the events at which a flow begins whose end is in the trace of another process.
  void match(Trace& trace);

  // Lines for the file, at most max_medium() bytes that are not parted.
  void send(std::string_view lines);

 private:
  static constexpr std::size_t kBatch = 256;             // flows that are asked for at a time
  using Found = std::array<std::uint64_t, kBatch / 64>;  // a bit each

  // Flows that begin here, and their events.
  struct Batch {
    std::vector<TraceFlow> flows;
    std::vector<TraceEvent*> events;
  };

  void ask(Rank peer, Batch& batch);
  Found find(std::span<const TraceFlow> flows) noexcept;
  static void mark(const Batch& batch, const Found& found) noexcept;

  void on_ask_clock(Request request);
  void on_clock(Reply reply, std::int64_t ns);
  void on_ask_flows(Request request, std::span<const std::byte> flows, std::uint32_t number);
  void on_flows(Reply reply, Found found, std::uint32_t number);
  void on_lines(OneWay message, std::span<const std::byte> lines);

  TraceFile* const file_;
  Bundle bundle_;
  Endpoint endpoint_;
  bool answered_ = false;
  std::int64_t clock_ns_ = 0;
  FlowEnds ends_{0};
  std::unordered_map<std::uint32_t, Batch> asked_;  // by number
  std::uint32_t number_ = 0;
};

}  // namespace am
