#include "millrace/properties/visibility.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::properties {

VisibilityJudge::Seen VisibilityJudge::read(bool with_rows) {
  Seen seen;
  seen.look = reader_([&](std::int64_t, std::span<const Cell> cells) {
    seen.hash.add(cells);
    if (with_rows) seen.rows.push_back(own(cells));
  });
  return seen;
}

void VisibilityJudge::look() {
  if (breach_) return;
  ++looks_;
  try {
    const Seen seen = read(false);
    if (seen.look.outcome == TableLook::Outcome::seen) judge(seen.look, seen.hash);
    if (seen.look.outcome == TableLook::Outcome::absent && newest_) {
      convict("visibility", fmt::format("a reader saw checkpoint {} and then no table at all",
                                        to_text(*newest_)));
    }
  } catch (const WorldError&) {
    // The database's node is dying under the reader. There will be another look.
  }
}

void VisibilityJudge::judge(const TableLook& look, const RowSetHash& hash) {
  if (!look.marker) {
    if (newest_) {
      convict("visibility",
              fmt::format("a reader saw checkpoint {} and then no marker", to_text(*newest_)));
    } else if (look.rows != 0) {
      judge_rows(none(), none(), "before the sink was ever fenced");
    }
    return;
  }
  const CheckpointId id = look.marker->published;
  if (newest_ && id < *newest_) {
    convict("visibility",
            fmt::format("a reader saw checkpoint {} and then {}", to_text(*newest_), to_text(id)));
    return;
  }
  const std::optional<CheckpointId> before = std::exchange(newest_, id);
  if (id == CheckpointId::genesis()) {
    if (mode_ == SinkMode::staged && look.rows != 0) {
      judge_rows(none(), none(), "before any checkpoint");
    }
    if (mode_ != SinkMode::staged) judge_direct("before any checkpoint");
    return;
  }
  const auto decided = decided_();
  if (!decided || *decided < id) {
    convict("visibility",
            fmt::format("rows of checkpoint {} were visible before it was decided", to_text(id)));
    return;
  }
  const auto claims = claims_.find(id);
  if (claims == claims_.end()) {
    convict("visibility", fmt::format("checkpoint {} was visible, and nobody has written its "
                                      "manifest",
                                      to_text(id)));
    return;
  }
  if (before && *before != id) judge_progress(*before, id);
  if (mode_ != SinkMode::staged) return judge_direct(fmt::format("at checkpoint {}", to_text(id)));
  if (!reference_.knows_progress()) {
    if (before && *before == id) return;
    return judge_rows(none(), all(), fmt::format("at checkpoint {}", to_text(id)));
  }
  const ShownRows expected = reference_.shown_at(claims->second);
  const bool equal = reference_.is_exact() && hash == expected.hash;
  if (!equal) judge_rows(expected, expected, fmt::format("at checkpoint {}", to_text(id)));
}

void VisibilityJudge::judge_progress(CheckpointId before, CheckpointId now) {
  for (const Claim& older : claims_[before]) {
    for (const Claim& newer : claims_[now]) {
      if (newer.partition != older.partition) continue;
      if (newer.offset >= older.offset && newer.ended >= older.ended) continue;
      convict("visibility", fmt::format("checkpoint {} had read less of {} than {} before it",
                                        to_text(now), older.partition, to_text(before)));
    }
  }
}

void VisibilityJudge::judge_direct(const std::string& when) {
  if (!reference_.knows_progress() && mode_ == SinkMode::upsert) return;
  // What is decided is durable with all its rows, whatever is published.
  const auto decided = decided_();
  const auto claims = decided ? claims_.find(*decided) : claims_.end();
  judge_rows(claims == claims_.end() ? none() : reference_.shown_at(claims->second), all(), when);
}

void VisibilityJudge::judge_rows(const ShownRows& required, const ShownRows& allowed,
                                 const std::string& when) {
  const Seen seen = read(true);
  RowComparison comparison = compare_rows(reference_, required, allowed, seen.rows);
  if (mode_ == SinkMode::insert) comparison.counts.duplicated = 0;  // Until the end.
  if (comparison.counts.wrong() == 0) {
    if (!reference_.knows_progress() && mode_ == SinkMode::staged) judge_growth(seen.rows, when);
    return;
  }
  rows_ = comparison.counts;
  std::string what =
      fmt::format("{}, {} rows were visible where {}{} belong", when, seen.rows.size(),
                  required.count == allowed.count ? "" : "at least ", required.count);
  for (const std::string& example : comparison.examples) what += "; " + example;
  convict("visibility", std::move(what));
}

void VisibilityJudge::judge_growth(const std::vector<OwnedRow>& rows, const std::string& when) {
  std::map<OwnedRow, std::size_t> now;
  for (const OwnedRow& row : rows) ++now[row];
  for (const auto& [row, times] : shown_) {
    const auto found = now.find(row);
    if (found != now.end() && found->second >= times) continue;
    rows_.lost = 1;
    convict("visibility", fmt::format("{}, a row that was visible before is not: {}", when,
                                      to_text(row, reference_.columns())));
  }
  shown_ = std::move(now);
}

bool VisibilityJudge::look_at_the_end() {
  const ShownRows all = this->all();
  const Seen hashed = read(false);
  if (hashed.look.outcome == TableLook::Outcome::busy) return false;
  if (reference_.is_exact() && hashed.hash == all.hash) {
    rows_ = {};
    last_rows_.reset();
    return true;
  }
  Seen seen = read(true);
  const RowComparison comparison = compare_rows(reference_, all, all, seen.rows);
  last_rows_ = std::move(seen.rows);
  rows_ = comparison.counts;  // Whatever was wrong on the way, this is what was left.
  if (comparison.counts.wrong() == 0) return true;
  std::string what = fmt::format("at the end {} rows are visible where {} belong",
                                 last_rows_->size(), reference_.rows().size());
  for (const std::string& example : comparison.examples) what += "; " + example;
  if (!breach_) convict("rows", std::move(what));
  return true;
}

void VisibilityJudge::convict(std::string judge, std::string what) {
  if (!breach_) breach_ = Breach{std::move(judge), std::move(what)};
}

}  // namespace millrace::properties
