#include <dlfcn.h>
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"
#include "am/job/bootstrap/mpi_state.h"

#ifdef __SANITIZE_ADDRESS__
// PMIx leaks a few bytes at its start. Weak: a program may have its own.
extern "C" __attribute__((weak)) const char* __lsan_default_suppressions() {
  return "leak:libpmix.so\n";
}
#endif

namespace am {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";

void* load() {
  // Global: PMIx loads plugins, which expect to find it.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (library != nullptr) return library;
  throw Error(std::string("the launcher offers PMIx (PMIX_RANK is set), and its library cannot be "
                          "loaded: ") +
              dlerror() + "; install it (Debian: libpmix2), or use mpiexec.hydra or splitcrun");
}

template <class Function>
Function* function(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found != nullptr) return reinterpret_cast<Function*>(found);
  throw Error(std::string(kLibrary) + " has no " + name + "; install PMIx 4 (Debian: libpmix2)");
}

// A value that PMIx_Get returned. Frees it.
struct ValueDeleter {
  void operator()(pmix_value_t* value) const {
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, ValueDeleter>;

Rank my_rank = 0;  // of this process; written before the handler below can be called

// Called by a thread of PMIx when the connection to the launcher's server ends, which PMIx itself
// would not mind: nobody would end this process, as its neighbours die with their launcher.
void on_lost_launcher(std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], std::size_t,
                      pmix_info_t*, std::size_t, pmix_event_notification_cbfunc_fn_t, void*) {
  print_sentence("rank " + std::to_string(my_rank) + ": the launcher has died, so the job ends");
  _exit(1);
}

// Loaded only where it is needed: with what it depends on, it would make every start slower.
struct Library {
  void* const handle = load();  // stays: its threads may outlive this object
  decltype(PMIx_Init)* const init = function<decltype(PMIx_Init)>(handle, "PMIx_Init");
  decltype(PMIx_Finalize)* const finalize =
      function<decltype(PMIx_Finalize)>(handle, "PMIx_Finalize");
  decltype(PMIx_Put)* const put = function<decltype(PMIx_Put)>(handle, "PMIx_Put");
  decltype(PMIx_Commit)* const commit = function<decltype(PMIx_Commit)>(handle, "PMIx_Commit");
  decltype(PMIx_Fence)* const fence = function<decltype(PMIx_Fence)>(handle, "PMIx_Fence");
  decltype(PMIx_Get)* const get = function<decltype(PMIx_Get)>(handle, "PMIx_Get");
  decltype(PMIx_Error_string)* const error_string =
      function<decltype(PMIx_Error_string)>(handle, "PMIx_Error_string");
  decltype(PMIx_Register_event_handler)* const register_event_handler =
      function<decltype(PMIx_Register_event_handler)>(handle, "PMIx_Register_event_handler");
  pmix_proc_t me{};
};

class BootstrapPmix final : public Bootstrap {
 public:
  BootstrapPmix() {
    check("PMIx_Init", library_.init(&library_.me, nullptr, 0));
    my_rank = rank();
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    library_.register_event_handler(&lost, 1, nullptr, 0, on_lost_launcher, nullptr, nullptr);
    pmix_proc_t all = library_.me;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* found = nullptr;
    check("PMIx_Get(PMIX_JOB_SIZE)", library_.get(&all, PMIX_JOB_SIZE, nullptr, 0, &found));
    const Value value(found);
    if (value->type != PMIX_UINT32 || rank() >= value->data.uint32) {
      throw Error("rank " + std::to_string(rank()) +
                  ": the launcher's PMIx server gives no size of the job that fits");
    }
    size_ = value->data.uint32;
    if (size_ == 1) return;
    // Some servers take a process that leaves with 0 for one that has done its work.
    expect_no_exit(rank(), nullptr);
  }

  Rank rank() const override { return library_.me.rank; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "PMIx"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    const std::string key = "splitphase-" + std::to_string(round_++);
    // Never empty: the first byte says nothing.
    std::vector<std::byte> padded(1 + mine.size());
    std::ranges::copy(mine, padded.begin() + 1);
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo = {.bytes = reinterpret_cast<char*>(padded.data()), .size = padded.size()};
    check("PMIx_Put", library_.put(PMIX_GLOBAL, key.c_str(), &value));
    check("PMIx_Commit", library_.commit());
    fence(true);
    std::vector<std::vector<std::byte>> all;
    all.reserve(size_);
    for (Rank rank = 0; rank < size_; ++rank) all.push_back(get(rank, key));
    return all;
  }

  void barrier() override { fence(false); }
  void finished() override {
    if (finished_) return;
    finished_ = true;
    if (mpi_phase() == MpiPhase::kBefore) {
      // Open MPI's MPI_Init fails behind the last PMIx_Finalize of a process.
      say_at_exit([finalize = library_.finalize] { finalize(nullptr, 0); });
    } else {
      check("PMIx_Finalize", library_.finalize(nullptr, 0));
    }
    permit_exit();
  }

 private:
  // Not by PMIx_Abort: it makes mpirun 4.1.4 crash or hang now and then. Every server takes it for
  // a failure of the job when a process leaves without PMIx_Finalize.
  void report_abort(int, std::string_view sentence) override { print_last_sentence(sentence); }

  // A barrier; with `collect` everybody has everybody's values after it.
  void fence(bool collect) {
    pmix_info_t info{};
    std::strncpy(info.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = collect;
    check("PMIx_Fence", library_.fence(nullptr, 0, &info, 1));
  }

  std::vector<std::byte> get(Rank rank, const std::string& key) {
    pmix_proc_t from = library_.me;
    from.rank = rank;
    pmix_value_t* found = nullptr;
    check("PMIx_Get of what rank " + std::to_string(rank) + " gave",
          library_.get(&from, key.c_str(), nullptr, 0, &found));
    const Value value(found);
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size == 0) {
      throw Error("rank " + std::to_string(this->rank()) + ": the address of rank " +
                  std::to_string(rank) + " came damaged through the launcher's PMIx server");
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
    return {bytes + 1, bytes + value->data.bo.size};
  }

  // Throws Error unless `status`, which `call` returned, is success.
  void check(const std::string& call, int status) const {
    if (status == PMIX_SUCCESS) return;
    if (status == PMIX_ERR_PARTIAL_SUCCESS) {
      throw Error("rank " + std::to_string(rank()) +
                  ": another process of the job has died, or left before it had finished");
    }
    const std::string who = size_ == 0 ? "" : "rank " + std::to_string(rank()) + ": ";
    throw Error(who + call + ": " + library_.error_string(status) + " (" + std::to_string(status) +
                "); the launcher's PMIx server has died or is ending the job, or it never started "
                "this process");
  }

  Library library_;
  std::uint32_t size_ = 0;
  std::uint32_t round_ = 0;  // of exchange(); every round has keys of its own
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Bootstrap> join_pmix() { return std::make_unique<BootstrapPmix>(); }

}  // namespace am
