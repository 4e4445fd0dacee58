#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/properties/case.hpp"
#include "millrace/properties/outcome.hpp"

namespace millrace::properties {

/// In which way a run failed: what stays the same while its case is made smaller.
struct Failure {
  Verdict verdict = Verdict::held;
  /// Who said so: of a breach the judge that spoke first, of a violation the sentence that did not
  /// hold, of a refusal its name. Empty of any other verdict. What a judge says in detail is no
  /// part of it: rows and checkpoints are others in every smaller run.
  std::string by;
  friend bool operator==(const Failure&, const Failure&) = default;
};
Failure failure_of(const Outcome& outcome);

/// How far a search has come.
struct ShrinkProgress {
  std::uint64_t runs = 0;
  std::string_view step;  ///< What it is at: `plan`, `draws`, `input`, `cluster` or `timing`.
  const Case& smallest;   ///< So far.
};

struct ShrinkOptions {
  std::uint64_t most_runs = 4000;
  /// Called after every run. False ends the search.
  std::function<bool(const ShrinkProgress&)> progress;
  /// Runs a case and tells the draws that were not 0, in their order; nothing if it cannot. It is
  /// one of the runs. Without it no draw of a seed becomes an explicit choice.
  std::function<std::vector<sim::Drawn>(const Case&)> draws_of = {};
};

/// What a search has found.
struct Shrunk {
  enum class End : std::uint8_t {
    smallest,     ///< Nothing that the search knows of makes it smaller.
    out_of_runs,  ///< There may be a smaller one.
    stopped,      ///< By `progress`; there may be a smaller one.
  };
  Case smallest;  ///< Fails alike. Says nothing of a build or a trace: whoever runs it again knows.
  std::uint64_t runs = 0;
  End end = End::smallest;
};

/// Makes a failing case smaller for as long as it fails alike: fewer faults, no chance, less input,
/// fewer nodes and subtasks, less time, simpler faults; again from the beginning until nothing of
/// this helps any more. At the end no fault, no choice, no partition and no line can be left out.
///
/// A failure that needs chance needs no seed if few draws matter: the case gets quiet, and has
/// these draws as explicit choices, as low as they can be. If there are too many to be read it is
/// looked for under a few other seeds when much of the input goes. A fault may move to another
/// landmark when half of the input goes with it.
///
/// `fails_alike` runs a case and says whether it fails as the first one does; it is never asked
/// twice about the same case, and never about one without workers or partitions. The search knows
/// nothing of runs and leaves nothing to chance: equal answers, equal result. Lines keep their
/// order. A partition whose text is no longer what it was has no origin any more.
Shrunk shrink(const Case& failing, const std::function<bool(const Case&)>& fails_alike,
              const ShrinkOptions& options = {});

}  // namespace millrace::properties
