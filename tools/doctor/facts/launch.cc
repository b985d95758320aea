#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "am/job/config/variables.h"
#include "am/sodium/sodium.h"
#include "am/types/types.h"
#include "tools/doctor/facts/gather.h"
#include "tools/doctor/facts/in_child.h"

namespace am::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSplitcrun = "splitcrun";
constexpr std::string_view kStarters[] = {kSplitcrun, "srun", "mpirun", "mpiexec.hydra"};

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// As a shell looks for it; "": not found.
std::string in_path(std::string_view name) {
  const std::string_view folders = value_of("PATH").value_or("");
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path path = fs::path(folders.substr(at, end - at)) / name;
    if (end != at && is_program(path)) return path;
    at = end + 1;
  }
  return "";
}

std::string beside_this_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path path = self.parent_path() / kSplitcrun;
  return !error && is_program(path) ? path.string() : "";
}

// By the dynamic linker's words why the library cannot be loaded; "": it can.
std::string try_pmix() {
  return dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL) != nullptr ? "" : dlerror();
}

std::string try_sodium() {
  try {
    Sodium::get();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// What loading says, or how it fails.
template <class Try>
std::string refusal(const Try& attempt) {
  const ChildResult result = in_child(attempt);
  return result.failure.empty() ? result.out : result.failure;
}

// What a launcher sets, or everybody for the place of a process: not for people to change, and not
// the same on two nodes.
bool is_place(const Setting& setting) {
  return setting.internal || setting.name == "SPLITC_RANK" || setting.name == "SPLITC_SIZE";
}

}  // namespace

LaunchersFacts gather_launchers(const Config& config) {
  LaunchersFacts facts;
  for (const std::string_view name : kStarters) {
    facts.programs.push_back({.name = std::string(name), .path = in_path(name)});
  }
  facts.splitcrun_beside = beside_this_program();
  facts.pmix_refusal = refusal(&try_pmix);
  facts.sodium_refusal = refusal(&try_sodium);
  facts.sodium_needed = config.rendezvous.has_value() || config.link != LinkChoice::kFabric;
  return facts;
}

SettingsFacts gather_settings() {
  SettingsFacts facts;
  for (const Setting& setting : settings()) {
    const auto value = value_of(setting.name);
    if (!value || is_place(setting)) continue;
    facts.set.emplace_back(setting.name, is_secret(setting.name) ? "..." : *value);
  }
  try {
    read_config();
  } catch (const Error& error) {
    facts.refusal = error.what();
  }
  return facts;
}

}  // namespace am::doctor
