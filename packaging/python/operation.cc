#include "operation.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "splitc/access/bulk.h"

namespace splitphase_python {
namespace {

// Those that are not complete. Changed with the GIL only.
std::unordered_set<std::shared_ptr<Operation>>& under_way() {
  static auto* const all = new std::unordered_set<std::shared_ptr<Operation>>;
  return *all;
}

}  // namespace

Operation::Operation(const splitc::distribution& map, std::size_t element, Slice slice,
                     py::array array)
    : map_(map),
      element_(element),
      slice_(slice),
      array_(std::move(array)),
      bytes_(static_cast<std::byte*>(const_cast<void*>(array_.data()))) {}

// --- Which elements of the slice are where

template <class Visit>
void Operation::for_each_part(Visit visit) const {
  if (slice_.size() == 0) return;
  const std::size_t first = slice_.first / map_.block();
  const std::size_t blocks = (slice_.last - 1) / map_.block() - first + 1;
  for (std::size_t i = 0; i < blocks && i < map_.procs(); ++i) {
    const auto proc = static_cast<std::uint32_t>((first + i) % map_.procs());
    const std::size_t local = map_.size_below(proc, slice_.first);
    visit(Part{proc, local, map_.size_below(proc, slice_.last) - local});
  }
}

// Calls visit(at, position, bytes) for each run of elements with consecutive indices: where it
// begins in the part, and in the array, in bytes.
template <class Visit>
void Operation::for_each_run(const Part& part, Visit visit) const {
  for (std::size_t at = 0; at < part.count;) {
    const std::size_t local = part.local + at;
    const std::size_t count = std::min(map_.block() - local % map_.block(), part.count - at);
    const std::size_t position = map_.global(part.proc, local) - slice_.first;
    visit(at * element_, position * element_, count * element_);
    at += count;
  }
}

void Operation::gather(const Part& part, std::byte* to) const {
  for_each_run(part, [&](std::size_t at, std::size_t position, std::size_t bytes) {
    std::memcpy(to + at, bytes_ + position, bytes);
  });
}
void Operation::scatter(const Part& part, const std::byte* from) const {
  for_each_run(part, [&](std::size_t at, std::size_t position, std::size_t bytes) {
    std::memcpy(bytes_ + position, from + at, bytes);
  });
}

// --- Start

// Calls start(part, there, mine, bytes, where) for each part; `mine` is nullptr if its elements are
// apart in the array.
template <class Start>
void Operation::move(std::uint64_t offset, Start start) {
  const auto where = here();
  try {
    const py::gil_scoped_release others_run;
    for_each_part([&](const Part& part) {
      const std::size_t first = map_.global(part.proc, part.local);
      const std::size_t last = map_.global(part.proc, part.local + part.count - 1);
      const bool is_one_run = last - first == part.count - 1;
      start(part, Bytes(part.proc, offset + part.local * element_),
            is_one_run ? bytes_ + (first - slice_.first) * element_ : nullptr,
            part.count * element_, where);
    });
  } catch (...) {  // parts may be under way
    if (!handles_.empty()) under_way().insert(shared_from_this());
    throw;
  }
  if (handles_.empty()) return finish();
  under_way().insert(shared_from_this());
}

// Memory for a part.
std::byte* Operation::stage(const Part& part) {
  staged_.push_back({part, std::make_unique<std::byte[]>(part.count * element_)});
  return staged_.back().bytes.get();
}

void Operation::note(splitc::handle handle) {
  if (handle.generation() != 0) handles_.push_back(handle);
}

void Operation::get(std::uint64_t offset) {
  is_get_ = true;
  move(offset, [&](const Part& part, Bytes there, std::byte* mine, std::size_t bytes,
                   am::SourceLocation where) {
    if (mine == nullptr) mine = stage(part);
    note(splitc::bulk_get(mine, there, bytes, where));
  });
}

void Operation::put(std::uint64_t offset) {
  move(offset, [&](const Part& part, Bytes there, std::byte* mine, std::size_t bytes,
                   am::SourceLocation where) {
    if (mine == nullptr) gather(part, mine = stage(part));
    note(splitc::bulk_put(there, mine, bytes, where));
  });
}

void Operation::store(std::uint64_t offset) {
  move(offset, [&](const Part& part, Bytes there, std::byte* mine, std::size_t bytes,
                   am::SourceLocation where) {
    if (mine == nullptr) gather(part, mine = stage(part));
    splitc::bulk_store(there, mine, bytes, splitc::store_counter::default_counter(), where);
  });
}

// --- End

py::array Operation::wait() {
  if (done_) return array_;
  check_running("splitphase: wait");
  check_may_wait("splitphase: wait");  // sync() would end the job
  {
    const auto where = here();
    const py::gil_scoped_release others_run;
    for (const splitc::handle& handle : handles_) splitc::sync(handle, where);
  }
  finish();
  return array_;
}

bool Operation::is_ready() {
  if (done_) return true;
  check_running("splitphase: ready");
  for (const splitc::handle& handle : handles_) {
    if (!splitc::try_sync(handle)) return false;
  }
  finish();
  return true;
}

void Operation::finish() {
  if (done_) return;  // by a sync() of another function meanwhile
  done_ = true;
  if (is_get_) {
    for (const auto& [part, bytes] : staged_) scatter(part, bytes.get());
  }
  staged_.clear();
  under_way().erase(shared_from_this());
}

void Operation::finish_all() {
  while (!under_way().empty()) {
    const std::shared_ptr<Operation> one = *under_way().begin();
    one->finish();
  }
}

void complete_operations() {
  check_running("splitphase.sync");
  check_may_wait("splitphase.sync");  // sync() would end the job
  {
    const py::gil_scoped_release others_run;
    splitc::sync();
  }
  Operation::finish_all();
}

void define_operation(py::module_& module) {
  module.def("sync", &complete_operations,
             "Waits until every get and put of this process is complete.");
  py::class_<Operation, std::shared_ptr<Operation>>(module, "Operation",
                                                    "A get or put that is under way.")
      .def("wait", &Operation::wait, "Waits, and returns the array that was read or written.")
      .def("ready", &Operation::is_ready, "Whether it is complete; polls once if not.");
}

}  // namespace splitphase_python
