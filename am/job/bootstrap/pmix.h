// A process of a launcher that offers PMIx: Open MPI's mpirun, srun --mpi=pmix, and others.
#pragma once

#include <memory>

#include "am/job/bootstrap/bootstrap.h"

namespace am {

class BootstrapPmix final : public Bootstrap {
 public:
  // Says hello to the launcher's server. Throws Error: the library is missing, or no server
  // answers.
  BootstrapPmix();
  ~BootstrapPmix() override;

  Rank rank() const override;
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "PMIx"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override;
  void finished() override;

 private:
  struct Library;

  void report_abort(int exit_code, std::string_view sentence) override;
  void fence(bool collect);
  std::vector<std::byte> get(Rank rank, const std::string& key);
  // Throws Error unless `status`, which `call` returned, is success.
  void check(const std::string& call, int status) const;

  std::unique_ptr<Library> library_;
  std::uint32_t size_ = 0;
  std::uint32_t round_ = 0;  // of exchange(); every round has keys of its own
  bool finished_ = false;
};

}  // namespace am
