#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {

/// The number of a takeover: who owns the job, and for how long its words count (PROTOCOL 1.4).
///
/// Rises by at least one with every restart, whatever its cause. 0 is before the first owner.
struct Term {
  std::uint64_t number = 0;

  constexpr Term next() const { return {number + 1}; }
  friend constexpr auto operator<=>(Term, Term) = default;
};

/// Which checkpoint: the term that took it and its number in that term, from 1.
///
/// Compared as a pair, so a checkpoint of a later term is later whatever its number. 0.0 is
/// genesis: the state of a job that has read nothing.
struct CheckpointId {
  Term term;
  std::uint64_t n = 0;

  static constexpr CheckpointId genesis() { return {}; }
  friend constexpr auto operator<=>(CheckpointId, CheckpointId) = default;
};

/// Which history a state directory and a sink share: drawn at genesis, kept for ever.
///
/// A sink that carries another lineage holds the rows of another history.
struct Lineage {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(Lineage, Lineage) = default;
};

/// `3.17`: term, dot, number.
std::string to_text(CheckpointId id);
/// 32 hexadecimal digits.
std::string to_text(Lineage lineage);

std::optional<CheckpointId> parse_checkpoint_id(std::string_view text);
std::optional<Lineage> parse_lineage(std::string_view text);

}  // namespace millrace
