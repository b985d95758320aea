// All families of operations. A new one is a file, and a line of the table in families.cc.
#pragma once

#include <memory>
#include <span>

#include "tests/soak/family.h"

namespace soak {

std::span<const FamilyEntry> families();

std::unique_ptr<Family> make_access(const Settings& settings);
std::unique_ptr<Family> make_split(const Settings& settings);
std::unique_ptr<Family> make_stores(const Settings& settings);
std::unique_ptr<Family> make_words(const Settings& settings);
std::unique_ptr<Family> make_locks(const Settings& settings);
std::unique_ptr<Family> make_calls(const Settings& settings);
std::unique_ptr<Family> make_arrays(const Settings& settings);
std::unique_ptr<Family> make_collectives(const Settings& settings);
std::unique_ptr<Family> make_messages(const Settings& settings);
std::unique_ptr<Family> make_clients(const Settings& settings);
std::unique_ptr<Family> make_channels(const Settings& settings);
std::unique_ptr<Family> make_halos(const Settings& settings);
std::unique_ptr<Family> make_zero_copy(const Settings& settings);
std::unique_ptr<Family> make_offers(const Settings& settings);

}  // namespace soak
