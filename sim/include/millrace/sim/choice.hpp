#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/sim/draws.hpp"

namespace millrace::sim {

/// What one draw of a run is, whatever its seed says (CHANCE.md).
struct Choice {
  Domain domain = Domain::world;
  std::string site;
  std::string entity;
  std::uint32_t part = 0;
  std::uint64_t draw = 0;  ///< How often the entity drew there before.
  /// Above what the draw allows it is the highest that it allows: code that has changed may ask for
  /// less than it did, and the most harm it knows of is what comes nearest.
  std::uint64_t value = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};

std::string_view to_text(Domain domain);

/// `world site=network.latency entity=worker1/source.0/life1 draw=3 value=417`
std::string to_text(const Choice& choice);
/// Throws UsageError naming the text and what was expected.
Choice parse_choice(std::string_view text);

/// A draw that a run has made.
struct Drawn {
  Choice choice;
  std::uint64_t bound = 0;  ///< It was below it; 0: it was any number of 64 bits.
  friend bool operator==(const Drawn&, const Drawn&) = default;
};

}  // namespace millrace::sim
