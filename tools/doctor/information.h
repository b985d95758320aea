// What splitc-info prints.
#pragma once

#include <string>
#include <vector>

namespace am::doctor {

// One setting as this process has it.
struct SettingValue {
  std::string name, unit, default_value, value, sentence;
  bool from_environment = false;
  bool internal = false;  // set by splitcrun for its processes
};

struct Information {
  std::string version;
  std::string commit;     // "unknown" outside of an installation
  std::string build;      // "release" or "checked"
  std::string compiler;   // "g++ 12.2.0"
  std::string flags;      // "optimized, with asserts of the standard library, ..."
  std::string machine;    // "x86_64"
  std::string libfabric;  // "1.17", or why there is none
  std::vector<SettingValue> settings;
  std::string refusal;  // why a job would refuse the settings; "": it would not
};

// Of this program and process. Loads libfabric in a process of its own.
Information gather_information();

std::string text_of(const Information& information);
std::string json_of(const Information& information);

}  // namespace am::doctor
