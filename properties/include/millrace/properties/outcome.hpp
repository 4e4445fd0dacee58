#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/faults/injector.hpp"
#include "millrace/runtime/landmarks.hpp"

namespace millrace::properties {

/// What a run turned out to be (DECISIONS "Cases, seeds, verdicts").
enum class Verdict : std::uint8_t {
  held,              ///< Every judge is content.
  breached,          ///< What readers saw, or what was left, is not what the reference says.
  no_progress,       ///< After the storm nothing went on for longer than anything may take.
  nondeterministic,  ///< The same case gave another run.
  violated,          ///< An invariant did not hold.
  stale,             ///< The case's fault or choice was never reached: it shows nothing.
  refused,           ///< The job refused by name to go on.
  failed,            ///< The job failed: a bad record, a constraint, too many restarts.
  crashed,           ///< The process that ran the case died.
};
std::string_view to_text(Verdict verdict);
/// Throws UsageError.
Verdict parse_verdict(std::string_view text);
/// The exit code of a command that ended with it.
int exit_code_of(Verdict verdict);

/// What a judge has to say.
struct Breach {
  std::string judge;  ///< `visibility`, `rows`, `progress`, `invariants`, `determinism`.
  std::string what;
  friend bool operator==(const Breach&, const Breach&) = default;
};

/// Rows that are not as they should be.
struct RowCounts {
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t altered = 0;
  std::uint64_t unexpected = 0;  ///< Rows that no input explains, or not yet.
  std::uint64_t unjudged = 0;    ///< Rows whose value depends on a late record.

  std::uint64_t wrong() const { return lost + duplicated + altered + unexpected; }
  friend bool operator==(const RowCounts&, const RowCounts&) = default;
};

inline constexpr std::size_t landmark_count = std::size(landmarks::all);
/// Its place among all landmarks of the processor.
std::size_t index_of(const Landmark& landmark);

/// What happened in a run, in numbers.
struct RunStatistics {
  std::uint64_t checkpoints = 0;  ///< Completed.
  std::uint64_t publishes = 0;    ///< That made rows visible.
  std::uint64_t records = 0;
  std::int64_t virtual_ns = 0;
  std::uint64_t events = 0;  ///< Of the trace.
  std::uint64_t switches = 0;
  std::uint64_t messages = 0;
  faults::Firings firings{};
  std::array<std::uint64_t, landmark_count> landmarks{};  ///< How often each was reached.

  std::uint64_t times(const Landmark& landmark) const { return landmarks[index_of(landmark)]; }
};

/// The result of one run.
struct Outcome {
  Verdict verdict = Verdict::held;
  std::vector<Breach> breaches;      ///< The first of every judge that had one.
  RowCounts rows;                    ///< Of the first moment at which rows were wrong.
  std::string reason;                ///< Of `refused` and `failed`.
  std::vector<std::string> unfired;  ///< Faults of the plan that never happened.
  std::vector<std::string> unasked;  ///< Choices of the case that were never asked for.
  std::uint64_t trace_hash = 0;
  RunStatistics statistics;
};

}  // namespace millrace::properties
