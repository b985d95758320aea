#include "examples/conjugate_gradient/halo.h"

#include <functional>
#include <vector>

namespace conjugate_gradient {

using namespace splitc;

Vector::Vector(const distribution& blocks, const Plan& plan)
    : blocks_(blocks),
      own_(blocks.size_on(my_proc())),
      ghosts_(plan.ghosts.size()),
      all_(procs(), blocks.block() + all_reduce(plan.ghosts.size(), maximum())) {}

namespace {

// --- Split-phase reads: whoever has ghosts reads the elements one by one, all at the same time.

class Gets : public Halo {
 public:
  Gets(const Vector& vector, const Plan& plan) : ghosts_(vector.ghosts()) {
    for (const std::uint32_t i : plan.ghosts) sources_.push_back(vector.at(i));
  }
  void start() override {
    barrier();  // all have their new values
    for (std::size_t i = 0; i < sources_.size(); ++i) get(ghosts_[i], sources_[i]);
  }
  void finish() override { sync(); }
  void release() override {}

 private:
  std::span<double> ghosts_;
  std::vector<global_ptr<const double>> sources_;
};

// --- The owner packs what another process has ghosts of into one parcel, in the order of these
// ghosts: it lands unpacked. No barrier is needed.

struct Parcel {
  std::uint32_t proc;
  global_ptr<double> target;
  std::vector<double> values;

  void pack(const Vector& vector, const Plan& plan) {
    const double* const own = vector.own().data();
    double* next = values.data();
    for (const std::uint32_t i : plan.wanted[proc]) *next++ = own[i];
  }
};

Parcel parcel_for(std::uint32_t proc, const Vector& vector, const Plan& plan) {
  return {proc, vector.ghosts_on(proc, plan.first_there[proc]),
          std::vector<double>(plan.wanted[proc].size())};
}

// By stores: the receiver knows how many bytes it gets from all others together.
class BulkStores : public Halo {
 public:
  BulkStores(const Vector& vector, const Plan& plan) : vector_(vector), plan_(plan) {
    for (std::uint32_t k = 1; k < procs(); ++k) {
      const std::uint32_t proc = (my_proc() + k) % procs();  // not all to the same one at first
      if (!plan.wanted[proc].empty()) parcels_.push_back(parcel_for(proc, vector, plan));
    }
  }
  void start() override {
    for (Parcel& parcel : parcels_) {
      parcel.pack(vector_, plan_);
      bulk_store(parcel.target, std::span(parcel.values));
    }
  }
  void finish() override { store_sync(vector_.ghosts().size_bytes()); }
  void release() override {}

 private:
  const Vector& vector_;
  const Plan& plan_;
  std::vector<Parcel> parcels_;
};

// By channels, each of which knows its parcel and its target.
class Channels : public Halo {
 public:
  Channels(const Vector& vector, const Plan& plan);
  void start() override;
  void finish() override {
    for (auto& channel : channels_) channel.wait();
  }
  void release() override {
    for (auto& channel : channels_) channel.ready();
  }

 private:
  const Vector& vector_;
  const Plan& plan_;
  std::vector<Parcel> parcels_;
  std::vector<put_channel<double>> channels_;  // one for each parcel, which it reads
};

// A collective call makes channels to one process from each: those that are k ranks away, if any of
// these has ghosts.
Channels::Channels(const Vector& vector, const Plan& plan) : vector_(vector), plan_(plan) {
  std::vector<std::uint8_t> used(procs());
  for (std::uint32_t k = 1; k < procs(); ++k) {
    used[k] = !plan.wanted[(my_proc() + k) % procs()].empty();
  }
  all_reduce(std::span(used), std::span(used), std::bit_or<std::uint8_t>());
  for (std::uint32_t k = 1; k < procs(); ++k) {
    if (!used[k]) continue;
    parcels_.push_back(parcel_for((my_proc() + k) % procs(), vector, plan));
    Parcel& parcel = parcels_.back();
    if (parcel.values.empty()) parcel.target = nullptr;
    channels_.emplace_back(parcel.target, std::span(parcel.values));
  }
}

void Channels::start() {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (!channels_[i].sends()) continue;
    channels_[i].wait_reusable();
    parcels_[i].pack(vector_, plan_);
    channels_[i].put();
  }
}

template <class T>
std::unique_ptr<Halo> make(const Vector& vector, const Plan& plan) {
  return std::make_unique<T>(vector, plan);
}

constexpr Version kVersions[] = {
    {"get", make<Gets>},
    {"bulk", make<BulkStores>},
    {"channel", make<Channels>},
};

}  // namespace

std::span<const Version> versions() { return kVersions; }

}  // namespace conjugate_gradient
