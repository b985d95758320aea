// splitc-info: version, build and settings of the library.
#include <optional>

#include "am/job/config/lost_output.h"
#include "tools/doctor/information.h"
#include "tools/doctor/program_options.h"

namespace am::doctor {
namespace {

int main_with(int argc, char** argv) {
  const std::optional<Options> options = parse_info_options(argc, argv);
  if (!options) return 0;
  const Information all = gather_information();
  print_answer(options->json ? json_of(all) : text_of(all));
  return all.refusal.empty() ? 0 : 2;
}

}  // namespace
}  // namespace am::doctor

int main(int argc, char** argv) {
  return am::doctor::run_program("splitc-info", [&] { return am::doctor::main_with(argc, argv); });
}
