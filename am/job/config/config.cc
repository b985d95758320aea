#include "am/job/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <utility>

#include "am/job/config/variables.h"

namespace am {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMinSegment = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxSegment = std::uint64_t{1} << 40;  // a global pointer's offset: 40 bits
constexpr std::size_t kMinSecret = 8;
constexpr std::uint64_t kMinTrace = std::uint64_t{32} << 10;
constexpr std::uint64_t kMaxTrace = std::uint64_t{64} << 30;

constexpr std::string_view kRank = "SPLITC_RANK";
constexpr std::string_view kSize = "SPLITC_SIZE";
constexpr std::string_view kLink = "SPLITC_LINK";
constexpr std::string_view kFault = "SPLITC_FAULT";
constexpr std::string_view kWay = "SPLITC_WAY";
constexpr std::string_view kRma = "SPLITC_RMA";
constexpr std::string_view kProgress = "SPLITC_PROGRESS";
constexpr std::string_view kRendezvous = "SPLITC_RENDEZVOUS";
constexpr std::string_view kSecret = "SPLITC_SECRET";
constexpr std::string_view kJobFd = "SPLITC_JOB_FD";
constexpr std::string_view kNode = "SPLITC_NODE";
constexpr std::string_view kTrace = "SPLITC_TRACE";
constexpr std::string_view kTraceMemory = "SPLITC_TRACE_MEMORY";

constexpr std::array<Setting, 29> kSettings{{
    {"SPLITC_SEGMENT", "bytes, with K, M or G", "256M",
     "Memory of each process that the others can address. Only touched pages cost memory."},
    {"SPLITC_WAIT", "auto, spin, yield or block", "auto",
     "How a process waits. auto spins, then yields, then blocks; it yields at once where processes "
     "outnumber cores. spin is for a core of its own for each thread: on a shared one a wait keeps "
     "those that it waits for from running, for milliseconds each time."},
    {"SPLITC_VERBOSE", "0 or 1", "0", "1 tells on standard error how the job was set up."},
    {"SPLITC_STATS", "0, 1 or json", "0",
     "1 tells at the end of a Split-C program where it waited and what it did with other nodes, by "
     "line, as splitcrun --stats does; json the same as one line of JSON."},
    {"SPLITC_WATCH_NEAR", "0 or 1", "0",
     "1: statistics and traces also have the accesses to memory of the own node through global "
     "pointers, as with splitcrun --watch-near. Each takes some 40 ns more, in place of 0.4."},
    {kTrace, "file", "none",
     "Where process 0 writes at the end what each process did and when, for "
     "https://ui.perfetto.dev, as splitcrun --trace does."},
    {kTraceMemory, "bytes, with K, M or G", "64M",
     "Memory of each process for that: 32 bytes an event. What does not fit is dropped and said."},
    {kLink, "fabric or datagram", "fabric",
     "How data travels between nodes. fabric: over a reliable provider of libfabric; datagram: "
     "over an unreliable one (UDP), made reliable by the library."},
    {kFault, "drop:P,dup:P,reorder:P,corrupt:P,delay:US,seed=N", "none",
     "For tests: what goes wrong with datagrams that are sent, in percent; by how many "
     "microseconds they are late. Needs SPLITC_LINK=datagram."},
    {kWay, "messages, specialised, datagram or memory", "none",
     "To compare the ways in which Split-C has been built. messages: requests and replies; "
     "specialised: packets without handlers, stores without answers; datagram: the same over UDP; "
     "these make each process a node of its own. memory: shared, on one node."},
    {"SPLITC_PROVIDER", "name", "chosen",
     "libfabric's provider between nodes, such as tcp;ofi_rxm. fi_info -l lists those there are."},
    {"SPLITC_INTERFACE", "name or address", "chosen",
     "Network interface between nodes, such as eth0 or 192.0.2.7."},
    {kProgress, "poll or thread", "poll",
     "Who keeps the network between nodes going while a process computes. poll: nobody, until it "
     "calls the library; thread: a thread that serves what others read and write."},
    {kRma, "0 or 1", "1",
     "0 reads and writes the memory of other nodes by messages, even where the network can do it."},
    {"SPLITC_LEARN", "0 or 1", "1",
     "0 keeps large stores to other nodes that repeat from getting put channels of their own."},
    {"SPLITC_CROSS_MEMORY", "auto or off", "auto",
     "How zero-copy transfers reach memory of their node that is not mapped. auto: through the "
     "kernel, where that is allowed; off: by messages."},
    {"SPLITC_COLLECTIVES", "name=SIZE,.. or a file", "for any network",
     "Up to which size collective calls between nodes take which algorithm: what splitc-doctor "
     "--tune has written, or some limits of it; SPLITC_VERBOSE=1 says what a job has."},
    {"SPLITC_HUGE_PAGES", "0 or 1", "1",
     "0 keeps segments on small pages where the kernel has huge ones for those who ask "
     "(/sys/kernel/mm/transparent_hugepage/shmem_enabled is advise). They make accesses all over a "
     "large segment faster, and a page that is touched takes 2 MiB."},
    {"SPLITC_CRASH_REPORT", "0 or 1", "1",
     "0 keeps a process from saying where it crashes: which function, which address and whose "
     "segment."},
    {"SPLITC_STALL", "seconds", "30",
     "How long a process waits without progress before the job says who waits for what and where; "
     "0: it never says. splitcrun --stall-report goes before it."},
    {"SPLITC_START_LIMIT", "seconds", "300",
     "How long a process waits for the others before the job exists; then it leaves with exit code "
     "1. 0: for ever. Under splitcrun, which shows such waits, there is no limit but its own."},
    {"SPLITC_SURVIVE", "0 or 1", "0",
     "1 lets a job of splitcrun go on without processes that die, as splitcrun --survive does."},
    {kRendezvous, "host:port", "none",
     "Where rank 0 listens and the others find it, in a job that no launcher starts."},
    {kSecret, "at least 8 characters", "none",
     "What all processes that meet at SPLITC_RENDEZVOUS must know, and nobody else."},
    {kRank, "number from 0", "none", "This process, with SPLITC_RENDEZVOUS."},
    {kSize, "number", "none", "How many processes meet at SPLITC_RENDEZVOUS."},
    {kJobFd, "file descriptor", "none", "The control region of splitcrun.", true},
    {kNode, "number", "the real one", "The pretended node of this process.", true},
    {kJoined, "text", "none", "Which process of a job has started this program.", true},
}};

// What variable `name`, which says one of some words, means; `default_value` where it is not set.
template <class Value>
Value read_choice(std::string_view name, Value default_value, std::string_view cause,
                  std::initializer_list<std::pair<std::string_view, Value>> choices) {
  const auto text = value_of(name);
  if (!text) return default_value;
  std::string words;
  for (const auto& choice : choices) {
    if (choice.first == *text) return choice.second;
    const bool last = &choice + 1 == choices.end();
    words.append(words.empty() ? "" : last ? " or " : ", ").append(choice.first);
  }
  refuse(name, *text, cause, "write " + words);
}

bool read_switch(std::string_view name, bool default_value) {
  return read_choice(name, default_value, "not a switch", {{"0", false}, {"1", true}});
}

std::uint64_t read_segment(std::uint64_t default_bytes) {
  constexpr std::string_view kName = "SPLITC_SEGMENT";
  const auto text = value_of(kName);
  if (!text) return default_bytes;
  const auto value = number_of_bytes(*text);
  if (!value) {
    refuse(kName, *text, "not a number of bytes", "write a number with K, M or G, such as 256M");
  }
  if (*value < kMinSegment) refuse(kName, *text, "less than 64K", "give each process more");
  if (*value > kMaxSegment) {
    refuse(kName, *text, "more than 1024G, which a global pointer's 40 bits can address",
           "give each process less");
  }
  return (*value + kPage - 1) / kPage * kPage;
}

std::uint64_t read_trace_bytes(std::uint64_t default_bytes) {
  const auto text = value_of(kTraceMemory);
  if (!text) return default_bytes;
  const auto value = number_of_bytes(*text);
  if (!value || *value < kMinTrace || *value > kMaxTrace) {
    refuse(kTraceMemory, *text, "not a number of bytes from 32K to 64G",
           "write one with K, M or G, such as 64M");
  }
  return *value;
}

double read_seconds(std::string_view name, double default_s, std::string_view remedy) {
  const auto text = value_of(name);
  if (!text) return default_s;
  const auto value = whole_number<double>(*text);
  if (!value || !(*value >= 0 && *value <= 1e9)) {
    refuse(name, *text, "not a number of seconds", remedy);
  }
  return *value;
}

// A thread can only make a provider progress. Datagrams are acknowledged and sent again by whoever
// polls, in the thread of the process.
bool read_progress(LinkChoice link) {
  const bool thread =
      read_choice(kProgress, false, "no way to make progress", {{"poll", false}, {"thread", true}});
  if (thread && link != LinkChoice::kFabric) {
    refuse(kProgress, "thread", "a thread cannot keep datagrams going", "set SPLITC_LINK=fabric");
  }
  return thread;
}

Way read_way() {
  const auto text = value_of(kWay);
  if (text && (value_of(kLink) || value_of(kRma))) {
    refuse(kWay, *text, "decides what SPLITC_LINK and SPLITC_RMA say, too", "unset those");
  }
  return read_choice(kWay, Way::kUsual, "no way for accesses to travel",
                     {{"messages", Way::kMessages},
                      {"specialised", Way::kSpecialised},
                      {"datagram", Way::kDatagram},
                      {"memory", Way::kMemory}});
}

link::FaultPlan read_faults(LinkChoice link) {
  const auto text = value_of(kFault);
  if (!text) return {};
  const link::FaultPlan plan = parse_faults(*text);
  if (link == LinkChoice::kFabric && plan.any()) {
    refuse(kFault, *text, "a reliable network loses nothing", "set SPLITC_LINK=datagram as well");
  }
  return plan;
}

constexpr std::string_view kNotForPeople =
    "start with splitcrun, or unset it: it is not for people to set";

// Throws if some of `names`, which belong together, are not set. `remedy` follows their names.
void want_all(std::initializer_list<std::string_view> names, std::string_view remedy) {
  std::string present, missing;
  for (const std::string_view name : names) {
    (value_of(name) ? present : missing).append(" ").append(name);
  }
  if (missing.empty()) return;
  throw Error("set:" + present + ", but not:" + missing + "; " + std::string(remedy) + present);
}

// host:port, or [address]:port where the address has colons.
Rendezvous read_rendezvous() {
  const std::string_view text = *value_of(kRendezvous);
  const std::size_t colon = text.rfind(':');
  const auto wrong = [text](std::string_view cause) {
    refuse(kRendezvous, text, cause, "write host:port, such as node7:4711 or [2001:db8::7]:4711");
  };
  if (colon == std::string_view::npos) wrong("no port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    wrong("an address with colons needs brackets");
  }
  if (host.empty()) wrong("no host");
  const auto port = whole_number<std::uint64_t>(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) wrong("the port is not a number from 1 to 65535");
  const std::string_view secret = *value_of(kSecret);
  if (secret.size() < kMinSecret) {  // not to be repeated in an error
    throw Error(std::string(kSecret) + ": shorter than " + std::to_string(kMinSecret) +
                " characters; give all processes the same long random word");
  }
  return {std::string(host), std::to_string(*port), std::string(secret)};
}

// Rank and size come with splitcrun's control region or with a place to meet. A place that was set
// for other programs does not disturb splitcrun.
void read_place_in_job(Config& config) {
  if (value_of(kJobFd)) {
    want_all({kRank, kSize, kJobFd}, "start the program with splitcrun, or unset");
    config.job_fd =
        static_cast<int>(read_number(kJobFd, 0, std::numeric_limits<int>::max(), kNotForPeople));
  } else if (value_of(kRendezvous)) {
    want_all({kRank, kSize, kRendezvous, kSecret}, "set all four for every process, or unset");
    config.rendezvous = read_rendezvous();
  } else if (value_of(kRank) || value_of(kSize)) {
    want_all({kRank, kSize, kRendezvous},
             "a job that no launcher starts needs SPLITC_SECRET as well; start the program with "
             "splitcrun, or set all four, or unset");
  } else {
    return;
  }
  const std::string_view remedy = "ranks go from 0 to SPLITC_SIZE - 1";
  config.size = static_cast<std::uint32_t>(read_number(kSize, 1, kMaxSize, remedy));
  config.rank = static_cast<Rank>(read_number(kRank, 0, config.size - 1, remedy));
}

int read_node() {
  if (!value_of(kNode)) return -1;
  return static_cast<int>(read_number(kNode, 0, kMaxSize - 1, kNotForPeople));
}

// "SPLITC_SEGMENT, SPLITC_WAIT, ...", those for people.
std::string names_of_settings() {
  std::string names;
  for (const Setting& setting : kSettings) {
    if (setting.internal) continue;
    names.append(names.empty() ? "" : ", ").append(setting.name);
  }
  return names;
}

void refuse_unknown() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(kSettingPrefix)) continue;
    const std::string_view name = text.substr(0, text.find('='));
    const auto same = [name](const Setting& setting) { return setting.name == name; };
    if (std::ranges::any_of(kSettings, same)) continue;
    const std::string_view meant = closest_setting(name);
    const std::string remedy = meant.empty() ? "there are " + names_of_settings() +
                                                   " (splitcrun --help-env describes them)"
                                             : "did you mean " + std::string(meant) + "?";
    const bool hidden = is_secret(meant) || is_secret(name);
    const std::string_view value = text.substr(std::min(text.size(), name.size() + 1));
    refuse(name, hidden ? "..." : value, "no such variable", remedy);
  }
}

}  // namespace

Config read_config() {
  refuse_unknown();
  Config config;
  config.segment_bytes = read_segment(config.segment_bytes);
  config.verbose = read_switch("SPLITC_VERBOSE", false);
  config.statistics = read_choice("SPLITC_STATS", StatisticsForm::kNone, "not a form of statistics",
                                  {{"0", StatisticsForm::kNone},
                                   {"1", StatisticsForm::kText},
                                   {"json", StatisticsForm::kJson}});
  config.watch_near = read_switch("SPLITC_WATCH_NEAR", false);
  config.trace = value_of(kTrace).value_or("");
  config.trace_bytes = read_trace_bytes(config.trace_bytes);
  config.wait = read_choice("SPLITC_WAIT", WaitPolicy::kAuto, "not a way to wait",
                            {{"auto", WaitPolicy::kAuto},
                             {"spin", WaitPolicy::kSpin},
                             {"yield", WaitPolicy::kYield},
                             {"block", WaitPolicy::kBlock}});
  config.way = read_way();
  config.link = read_choice(kLink, LinkChoice::kFabric, "no way for data to travel",
                            {{"fabric", LinkChoice::kFabric}, {"datagram", LinkChoice::kDatagram}});
  if (config.way == Way::kDatagram) config.link = LinkChoice::kDatagram;
  config.faults = read_faults(config.link);
  config.provider = value_of("SPLITC_PROVIDER").value_or("");
  config.interface = value_of("SPLITC_INTERFACE").value_or("");
  config.progress_thread = read_progress(config.link);
  config.rma = read_switch(kRma, true) && !is_apart(config.way);
  config.learn = read_switch("SPLITC_LEARN", true);
  if (const auto text = value_of("SPLITC_COLLECTIVES")) config.limits = parse_collectives(*text);
  config.huge_pages = read_switch("SPLITC_HUGE_PAGES", true);
  config.cross_memory = read_choice("SPLITC_CROSS_MEMORY", true, "no way to reach memory",
                                    {{"auto", true}, {"off", false}});
  config.crash_report = read_switch("SPLITC_CRASH_REPORT", true);
  config.survive = read_switch("SPLITC_SURVIVE", false);
  if (config.survive && !config.trace.empty()) {
    refuse(kTrace, config.trace, "a trace takes all processes of a job, and this one may lose some",
           "unset it, or SPLITC_SURVIVE (--survive)");
  }
  config.stall_s =
      read_seconds("SPLITC_STALL", config.stall_s, "write one, such as 30, or 0 for no report");
  config.start_limit_s = read_seconds("SPLITC_START_LIMIT", config.start_limit_s,
                                      "write one, such as 300, or 0 for no limit");
  config.node = read_node();
  read_place_in_job(config);
  read_other_launchers(config);
  config.inherited = settle_launcher(config);
  choose_launcher(config);
  return config;
}

std::span<const Setting> settings() { return kSettings; }

std::string describe_settings() {
  std::string text;
  for (const Setting& setting : kSettings) {
    if (setting.internal) continue;
    text.append(setting.name).append(" (").append(setting.kind).append("; default ");
    text.append(setting.default_value).append(")\n    ").append(setting.sentence).append("\n");
  }
  return text;
}

}  // namespace am
