// What a call complains of.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "splitc/splitc.h"

namespace test {

// The sentence with which `call` throws; "" if it does not.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const am::Error& error) {
    return error.what();
  }
  return "";
}

// Expects that `call` throws a sentence that begins with this process's rank and has all `parts`.
inline void expect_error(const std::function<void()>& call,
                         std::initializer_list<std::string> parts) {
  const std::string sentence = error_of(call);
  const std::string rank = "rank " + std::to_string(splitc::my_proc()) + ": ";
  EXPECT_TRUE(sentence.starts_with(rank)) << sentence;
  for (const std::string& part : parts) {
    EXPECT_NE(sentence.find(part), std::string::npos) << "no \"" << part << "\" in: " << sentence;
  }
}

}  // namespace test
