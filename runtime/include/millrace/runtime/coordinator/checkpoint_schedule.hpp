#pragma once

#include <optional>

#include "millrace/env/instant.hpp"
#include "millrace/runtime/checkpoint_options.hpp"

namespace millrace {

/// When the next checkpoint of a term is due: the one place that every path comes back to, so that
/// none forgets to. One is pending at a time (PROTOCOL 1.7). Pure but for what it remembers.
///
/// While the term may take more, one is pending or `next` tells when.
class CheckpointSchedule {
 public:
  explicit CheckpointSchedule(const CheckpointOptions& options) : options_(options) {}

  /// All tasks run. Before that none is due.
  void start(Instant now);
  /// One is wanted at once, whatever interval and pause say; behind one that failed, with the next
  /// attempt. It stays wanted until one that is triggered after this call is completed.
  void ask(Instant now);
  /// The last of this term was completed.
  void no_more() { has_last_ = true; }

  void triggered(Instant now);
  void completed(Instant now);
  /// It was given up. The next comes no sooner than an interval, or a timeout if that is shorter,
  /// after this one was triggered: a store that refuses is not asked without a pause.
  void failed(Instant now);

  bool is_due(Instant now) const { return next() != Instant::never() && now >= next(); }
  /// When the next is due; never before `start`, while one is pending and after `no_more`.
  Instant next() const;

 private:
  CheckpointOptions options_;
  bool is_started_ = false;
  bool has_last_ = false;
  bool is_pending_ = false;
  Instant last_trigger_;
  Instant periodic_ = Instant::never();  ///< When the interval is over.
  Instant pause_end_;                    ///< Only a completed checkpoint moves it.
  Instant not_before_;                   ///< Whatever is wanted: the last one has failed.
  std::optional<Instant> wanted_;        ///< Since when.
  bool is_wanted_pending_ = false;       ///< The pending one is what was asked for.
};

}  // namespace millrace
