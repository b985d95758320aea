#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

// Checks the models beside this file with SPIN, in all states that they can reach: that the
// algorithms hold, and that everything the models can leave out is needed.

namespace {

namespace fs = std::filesystem;

const fs::path kModels = "tests/shmem/model";

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How processes order their stores and loads; see memory.pml.
enum class Memory { kFullFences, kAssisted, kAssistedWithGap };

std::string flags_of(Memory memory) {
  switch (memory) {
    case Memory::kFullFences: return "";
    case Memory::kAssisted: return " -DASSISTED";
    default: return " -DASSISTED -DGAP";
  }
}

struct Variant {
  std::string model;
  Memory memory;
  int first = 2;  // messages of the two senders
  int second = 1;
  std::string left_out = "";
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.model << flags_of(variant.memory) << " " << variant.left_out;
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  constexpr const char* kMemories[] = {"full_fences", "assisted", "assisted_with_gap"};
  const Variant& variant = info.param;
  return variant.model + "_" + kMemories[static_cast<int>(variant.memory)] + "_" +
         std::to_string(variant.first) + "_" + std::to_string(variant.second) +
         (variant.left_out.empty() ? "" : "_without_" + variant.left_out);
}

class Model : public testing::TestWithParam<Variant> {
 protected:
  // What the checker says. `optimize` is for those that go through many states.
  static std::string check(const Variant& variant, const std::string& optimize) {
    const fs::path folder = fs::path(testing::TempDir()) / ("model_" + std::to_string(getpid()));
    fs::create_directories(folder);
    for (const char* const file :
         {"memory.pml", "attention.pml", "descriptor.pml", "doorbell.pml"}) {
      fs::copy_file(kModels / file, folder / file, fs::copy_options::overwrite_existing);
    }
    std::string flags = flags_of(variant.memory) + " -DFIRST=" + std::to_string(variant.first) +
                        " -DSECOND=" + std::to_string(variant.second);
    if (!variant.left_out.empty()) flags += " -DLEAVE_OUT_" + variant.left_out;
    const std::string command =
        "cd '" + folder.string() + "' && { spin -a" + flags + " " + variant.model + ".pml && cc " +
        optimize + " -w -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m10000; } >said 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder / "said");
    const std::string said = read_file(folder / "said");
    fs::remove_all(folder);
    return said;
  }
};

class Algorithm : public Model {};

TEST_P(Algorithm, loses_nothing_in_any_state) {
  const std::string said = check(GetParam(), "-O1");
  EXPECT_NE(said.find("errors: 0"), said.npos) << said;
  EXPECT_EQ(said.find("Warning: Search not completed"), said.npos) << said;
  EXPECT_EQ(said.find("max search depth too small"), said.npos) << said;
}

INSTANTIATE_TEST_SUITE_P(All, Algorithm,
                         testing::Values(Variant{"attention", Memory::kFullFences},
                                         Variant{"attention", Memory::kAssisted},
                                         Variant{"attention", Memory::kAssistedWithGap},
                                         Variant{"attention", Memory::kFullFences, 3, 0},
                                         Variant{"attention", Memory::kAssisted, 3, 0},
                                         Variant{"attention", Memory::kAssistedWithGap, 3, 0},
                                         Variant{"descriptor", Memory::kFullFences, 1, 0},
                                         Variant{"descriptor", Memory::kFullFences, 2, 0},
                                         Variant{"descriptor", Memory::kAssisted, 1, 0},
                                         Variant{"descriptor", Memory::kAssisted, 2, 0},
                                         Variant{"descriptor", Memory::kAssistedWithGap, 1, 0},
                                         Variant{"doorbell", Memory::kFullFences},
                                         Variant{"doorbell", Memory::kAssisted},
                                         Variant{"doorbell", Memory::kAssistedWithGap, 1, 1}),
                         name_of);

// Each in a memory in which it matters.
const std::vector<Variant> kWeakened = {
    {"attention", Memory::kAssisted, 2, 1, "ANOTHER_SWEEP"},
    {"attention", Memory::kAssisted, 2, 1, "ATOMIC_CLEAR"},
    {"attention", Memory::kAssisted, 2, 1, "BIT_BEFORE_SUMMARY"},
    {"attention", Memory::kAssistedWithGap, 2, 1, "ENOUGH_POLLS"},
    {"attention", Memory::kAssisted, 2, 1, "FORGETTING"},
    {"attention", Memory::kAssisted, 2, 1, "HEAVY_FENCE"},
    {"attention", Memory::kFullFences, 2, 1, "LIGHT_FENCE"},
    {"attention", Memory::kAssisted, 3, 0, "LOOK_AT_THE_BIT"},
    {"attention", Memory::kAssisted, 2, 1, "POLLS_UNTIL_SWEEP"},
    {"attention", Memory::kAssisted, 2, 1, "SUMMARY_BEFORE_WORDS"},
    {"descriptor", Memory::kAssisted, 1, 0, "COMPARISON_WITH_TICKET"},
    {"descriptor", Memory::kAssisted, 1, 0, "REGISTERING_FIRST"},
    {"descriptor", Memory::kAssisted, 1, 0, "SIGNAL"},
    {"descriptor", Memory::kAssistedWithGap, 1, 0, "TIMER"},
    {"doorbell", Memory::kAssisted, 2, 1, "COMPARISON_WITH_TICKET"},
    {"doorbell", Memory::kAssisted, 2, 1, "HEAVY_FENCE"},
    {"doorbell", Memory::kFullFences, 2, 1, "LIGHT_FENCE"},
    {"doorbell", Memory::kAssisted, 2, 1, "LOOK_BEFORE_SLEEP"},
    {"doorbell", Memory::kAssistedWithGap, 1, 1, "SHORT_SLEEP"},
    {"doorbell", Memory::kAssisted, 2, 1, "TAKING_BACK_FIRST"},
    {"doorbell", Memory::kAssisted, 2, 1, "TICKET_FIRST"},
};

class Weakened : public Model {};

TEST_P(Weakened, loses_a_message_in_some_state) {
  const std::string said = check(GetParam(), "-O0");
  EXPECT_NE(said.find("errors: 1"), said.npos) << said;
  EXPECT_NE(said.find("assertion violated"), said.npos) << said;
}

INSTANTIATE_TEST_SUITE_P(All, Weakened, testing::ValuesIn(kWeakened), name_of);

TEST(Models, are_checked_without_each_thing_that_they_can_leave_out) {
  for (const std::string model : {"attention", "descriptor", "doorbell"}) {
    const std::string text = read_file(kModels / (model + ".pml"));
    const std::regex left_out("LEAVE_OUT_([A-Z_]*[A-Z])");
    std::set<std::string> there, checked;
    for (std::sregex_iterator at(text.begin(), text.end(), left_out), end; at != end; ++at) {
      there.insert((*at)[1]);
    }
    for (const Variant& variant : kWeakened) {
      if (variant.model == model) checked.insert(variant.left_out);
    }
    EXPECT_EQ(there, checked) << model;
  }
}

}  // namespace
