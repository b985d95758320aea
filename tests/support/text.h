// What tests ask of texts.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

namespace test {

// Fails unless each part is in `text`.
void expect_contains(const std::string& text, std::initializer_list<std::string> parts);

// How often `part` is in `text`; those that overlap count, too.
std::size_t count_of(const std::string& text, const std::string& part);

}  // namespace test
