#pragma once

#include <cstdint>
#include <string_view>

#include "millrace/env/hash.hpp"

namespace millrace {

/// A place in the code where something is left to chance. Its name is unique (a test sees to it)
/// and gives its decisions their meaning, so renaming it changes what a seed does.
struct Site {
  constexpr explicit Site(std::string_view site_name)
      : name(site_name), hash(hash_name(site_name)) {}
  std::string_view name;
  std::uint64_t hash;
};

/// A chance that is exact on every machine: `part` times in `whole`.
struct Ratio {
  std::uint32_t part = 0;
  std::uint32_t whole = 1;
};

/// Decisions of one task that are left to chance.
///
/// In the simulator an answer is a function of the seed, the site, the task that asks, and how
/// often it asked there before, and of nothing else (PROTOCOL 6): a new question somewhere does not
/// change the answers elsewhere, so a seed keeps its meaning while the code around it changes.
/// In the real world answers come from the operating system.
class Chance {
 public:
  virtual ~Chance() = default;

  /// A number in [0, bound), each equally likely; 0 is the harmless one. `bound` is at least 1.
  /// `part` tells apart what the same task decides for several things, such as its lanes.
  virtual std::uint64_t below(Site site, std::uint64_t bound, std::uint32_t part = 0) = 0;

  /// As `below`, for what must not matter: where a batch ends, which of two lanes goes first. The
  /// simulator tries everything; in the real world it is always 0, the fastest.
  virtual std::uint64_t explore(Site /*site*/, std::uint64_t /*bound*/,
                                std::uint32_t /*part*/ = 0) {
    return 0;
  }

  /// A number by which nobody else calls anything: a nonce, a lineage. The one decision that has no
  /// harmless value, because two that are equal are the harm: where nothing is left to chance it is
  /// still another for every task and every time.
  virtual std::uint64_t unique(Site site) { return below(site, ~std::uint64_t{0}); }

  bool hits(Site site, Ratio ratio, std::uint32_t part = 0) {
    return ratio.part != 0 && below(site, ratio.whole, part) >= ratio.whole - ratio.part;
  }
};

}  // namespace millrace
