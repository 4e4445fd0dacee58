#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/env/landmark.hpp"

namespace millrace {

/// A moment of a run, named so that it is found again in another run (PROTOCOL 7):
/// `sink_staged role=sink.* term=1 n=3 nth=2`.
///
/// A landmark, conditions on who reaches it and what it is about, and the how-manieth time all of
/// them hold. Conditions that are not given always hold.
struct Anchor {
  std::string landmark;
  std::string role;  ///< May end with `*`; empty: any.
  std::optional<std::uint64_t> term;
  std::optional<std::uint64_t> n;
  std::optional<std::int32_t> subtask;
  std::optional<std::uint32_t> retry;
  std::optional<std::uint32_t> life;  ///< Which start of the node, from 1; simulator only.
  std::uint64_t nth = 1;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

std::string to_text(const Anchor& anchor);

/// Throws UsageError naming the word that does not belong, and what may stand there.
Anchor parse_anchor(std::string_view text);

/// Waits for an anchor: counts the landmarks that fit it.
class AnchorWatch {
 public:
  explicit AnchorWatch(Anchor anchor) : anchor_(std::move(anchor)) {}

  /// Tells that a landmark was reached. True once: at the nth that fits.
  bool observe(const Landmark& landmark, std::string_view role, std::uint32_t life,
               const LandmarkFields& fields);

  const Anchor& anchor() const { return anchor_; }

 private:
  Anchor anchor_;
  std::uint64_t seen_ = 0;
};

}  // namespace millrace
