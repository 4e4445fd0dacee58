#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "millrace/env/chance.hpp"

namespace millrace::sim {

/// Who decides. Draws of one domain never move those of another (PROTOCOL 6).
enum class Domain : std::uint8_t {
  input = 1,    ///< What the generator of inputs makes.
  plan = 2,     ///< What goes wrong, when and where.
  world = 3,    ///< Latencies, schedules, what a power loss keeps.
  product = 4,  ///< What the program under test leaves to chance.
};

/// The key of all draws of one entity at one site.
///
/// Together with `nth_draw` this is what a seed means, written down here and in CHANCE.md, with
/// vectors in draws_test.cpp: it may never change.
constexpr std::uint64_t draw_key(std::uint64_t seed, Domain domain, std::uint64_t site,
                                 std::uint64_t entity) {
  return mix64(mix64(mix64(seed + static_cast<std::uint64_t>(domain)) ^ site) ^ entity);
}

/// Draw number `n` of a key: 64 bits.
constexpr std::uint64_t nth_draw(std::uint64_t key, std::uint64_t n) {
  return mix64(key + n * 0xD1342543DE82EF95U);
}

/// `bits` scaled to [0, bound).
constexpr std::uint64_t scaled(std::uint64_t bits, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<Uint128>(bits) * bound) >> 64);
}

/// Where somebody draws.
struct Place {
  Domain domain;
  Site site;
  std::uint32_t part;    ///< 0: the site itself.
  std::uint64_t entity;  ///< Hash of its name.
};

class DrawBook;

/// What decides of a whole run: its seed, whether it is calm, and what is explicit of it.
struct Seed {
  std::uint64_t value = 0;
  bool quiet = false;  ///< Every draw takes its harmless value, 0.
  /// Has the last word on every draw (draw_book.hpp); null: nobody has. Not owned.
  DrawBook* book = nullptr;
};

/// The draws of one entity: a task of one life, a connection, a disk.
///
/// Counts how often the entity drew at each site, and nothing else.
class Draws {
 public:
  Draws(Seed seed, Domain domain, std::string_view entity);

  /// A number in [0, bound). Counted also when quiet, so that quiet moves no other draw.
  std::uint64_t below(Site site, std::uint64_t bound, std::uint32_t part = 0);

  /// A number that no other entity and no other time has, also when quiet: of names nothing is
  /// harmless but that they differ.
  std::uint64_t unique(Site site);

  /// A number in [least, most].
  std::uint64_t between(Site site, std::uint64_t least, std::uint64_t most) {
    return least + below(site, most - least + 1);
  }
  bool hits(Site site, Ratio ratio) {
    return ratio.part != 0 && below(site, ratio.whole) >= ratio.whole - ratio.part;
  }

 private:
  struct Counter {
    std::uint64_t site;
    std::uint64_t key;
    std::uint64_t drawn;
  };
  Counter& counter(std::uint64_t site);

  Seed seed_;
  Domain domain_;
  std::uint64_t entity_;
  std::vector<Counter> counters_;  ///< A handful: looked through in order.
};

}  // namespace millrace::sim
