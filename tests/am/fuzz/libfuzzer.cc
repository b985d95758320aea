// The entry of clang's libFuzzer: bazel build --config=fuzzer //tests/am/fuzz:<decoder>_fuzzer
#include "tests/am/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  am::fuzz::decode(am::fuzz::split(std::as_bytes(std::span(data, size))));
  return 0;
}
