#include "tools/doctor/information.h"

#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "am/job/config/config.h"
#include "am/job/config/variables.h"
#include "am/types/types.h"
#include "rdma/library.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/facts/in_child.h"

namespace am::doctor {
namespace {

using Json = nlohmann::ordered_json;

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

std::string flags() {
  std::string text;
#ifdef __OPTIMIZE__
  text += "optimized";
#else
  text += "not optimized";
#endif
#ifdef NDEBUG
  text += ", without asserts";
#else
  text += ", with asserts";
#endif
#ifdef _GLIBCXX_ASSERTIONS
  text += ", with those of the standard library";
#endif
#ifdef __SANITIZE_ADDRESS__
  text += ", AddressSanitizer";
#endif
#ifdef __SANITIZE_THREAD__
  text += ", ThreadSanitizer";
#endif
  return text;
}

// Written by packaging/install beside the folder of this program.
std::string commit() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string text;
  std::ifstream(self.parent_path().parent_path() / "share/splitphase/commit") >> text;
  return text.empty() ? "unknown" : text;
}

std::string libfabric() {
  const ChildResult result = in_child([] { return version_text(rdma::Library::get().version()); });
  return result.failure.empty() ? result.out : "none: it " + result.failure;
}

std::string machine() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
}

SettingValue value_of_setting(const Setting& setting) {
  const auto value = value_of(setting.name);
  return {.name = std::string(setting.name),
          .unit = std::string(setting.kind),
          .default_value = std::string(setting.default_value),
          .value = !value                    ? std::string(setting.default_value)
                   : is_secret(setting.name) ? "(not shown)"
                                             : std::string(*value),
          .sentence = std::string(setting.sentence),
          .from_environment = value.has_value(),
          .internal = setting.internal};
}

const char* source_of(const SettingValue& setting) {
  return setting.from_environment ? "environment" : "default";
}

}  // namespace

Information gather_information() {
  Information all{.version = std::string(kVersion),
                  .commit = commit(),
                  .build = kChecked ? "checked" : "release",
                  .compiler = kCompiler,
                  .flags = flags(),
                  .machine = machine(),
                  .libfabric = libfabric(),
                  .settings = {},
                  .refusal = ""};
  for (const Setting& setting : settings()) all.settings.push_back(value_of_setting(setting));
  try {
    read_config();
  } catch (const Error& error) {
    all.refusal = error.what();
  }
  return all;
}

std::string text_of(const Information& all) {
  std::string text = "version    " + all.version + "\ncommit     " + all.commit + "\nbuild      " +
                     all.build + " (" + all.flags + ")" + "\ncompiler   " + all.compiler +
                     "\nmachine    " + all.machine + "\nlibfabric  " + all.libfabric + "\n\n";
  if (!all.refusal.empty()) text += "A job would refuse the settings: " + all.refusal + "\n\n";
  for (const SettingValue& one : all.settings) {
    text += one.name + "=" + one.value + "  (" + source_of(one);
    if (one.from_environment) text += "; default " + one.default_value;
    text += "; " + one.unit + (one.internal ? "; set by splitcrun" : "") + ")\n";
  }
  return text;
}

std::string json_of(const Information& all) {
  Json out;
  out["version"] = all.version;
  out["commit"] = all.commit;
  out["build"] = all.build;
  out["flags"] = all.flags;
  out["compiler"] = all.compiler;
  out["machine"] = all.machine;
  out["libfabric"] = all.libfabric;
  out["refusal"] = all.refusal;
  out["settings"] = Json::array();
  for (const SettingValue& one : all.settings) {
    Json setting;
    setting["name"] = one.name;
    setting["value"] = one.value;
    setting["default"] = one.default_value;
    setting["unit"] = one.unit;
    setting["source"] = source_of(one);
    setting["internal"] = one.internal;
    setting["sentence"] = one.sentence;
    out["settings"].push_back(setting);
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace am::doctor
