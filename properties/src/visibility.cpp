#include "millrace/properties/visibility.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::properties {
namespace {

constexpr std::size_t most_examples = 3;

OwnedRow key_of(const Reference& reference, const OwnedRow& row) {
  OwnedRow key;
  for (const std::size_t column : reference.key_columns()) {
    if (column < row.size()) key.push_back(row[column]);
  }
  return key;
}

}  // namespace

RowComparison compare_rows(const Reference& reference, std::size_t required, std::size_t allowed,
                           const std::vector<OwnedRow>& seen) {
  RowComparison result;
  const auto example = [&](std::string_view what, const OwnedRow& row) {
    if (result.examples.size() < most_examples) {
      result.examples.push_back(fmt::format("{}: {}", what, to_text(row, reference.columns())));
    }
  };
  /// Of one key: what belongs there, and what is.
  struct Side {
    std::vector<const Reference::ExpectedRow*> must, may;
    std::vector<const Reference::ExpectedRow*> early;
    std::vector<const OwnedRow*> seen;
  };
  std::map<OwnedRow, Side> by_key;
  for (std::size_t i = 0; i < reference.rows().size(); ++i) {
    const Reference::ExpectedRow& row = reference.rows()[i];
    Side& side = by_key[key_of(reference, row.cells)];
    (i < required ? side.must : i < allowed ? side.may : side.early).push_back(&row);
  }
  for (const OwnedRow& row : seen) by_key[key_of(reference, row)].seen.push_back(&row);

  for (auto& [key, side] : by_key) {
    // Each row that is as it should be explains one that is expected; required ones first.
    std::vector<const Reference::ExpectedRow*> missing;
    const auto take = [&](const Reference::ExpectedRow& row) {
      const auto found = std::find_if(side.seen.begin(), side.seen.end(),
                                      [&](const OwnedRow* one) { return *one == row.cells; });
      if (found == side.seen.end()) return false;
      side.seen.erase(found);
      return true;
    };
    for (const auto* row : side.must) {
      if (!take(*row)) missing.push_back(row);
    }
    std::vector<const Reference::ExpectedRow*> unseen;
    for (const auto* row : side.may) {
      if (!take(*row)) unseen.push_back(row);
    }
    // The rest stands in the place of what is missing: it was altered on the way.
    const auto alter = [&](const Reference::ExpectedRow& row) {
      ++(row.is_certain ? result.counts.altered : result.counts.unjudged);
      if (row.is_certain) {
        example("altered", *side.seen.front());
        example("expected", row.cells);
      }
      side.seen.erase(side.seen.begin());
    };
    for (const auto* row : missing) {
      if (!side.seen.empty()) {
        alter(*row);
      } else {
        ++(row->is_certain ? result.counts.lost : result.counts.unjudged);
        if (row->is_certain) example("lost", row->cells);
      }
    }
    for (const auto* row : unseen) {
      if (!side.seen.empty()) alter(*row);
    }
    if (side.seen.empty()) continue;
    const bool is_due = !side.must.empty() || !side.may.empty();
    if (is_due) {
      result.counts.duplicated += side.seen.size();
      example("duplicated", *side.seen.front());
    } else {
      result.counts.unexpected += side.seen.size();
      example(side.early.empty() ? "unexpected" : "too early", *side.seen.front());
    }
  }
  return result;
}

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
      judge_rows(0, "before the sink was ever fenced");
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
    if (mode_ == SinkMode::staged && look.rows != 0) judge_rows(0, "before any checkpoint");
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
    return judge_rows(0, reference_.rows().size(), fmt::format("at checkpoint {}", to_text(id)));
  }
  const std::size_t expected = reference_.visible_rows(claims->second);
  const bool equal = reference_.is_exact() && hash == reference_.hash_of_first(expected);
  if (!equal) judge_rows(expected, fmt::format("at checkpoint {}", to_text(id)));
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
  const std::size_t required =
      claims == claims_.end() ? 0 : reference_.visible_rows(claims->second);
  judge_rows(required, reference_.rows().size(), when);
}

void VisibilityJudge::judge_rows(std::size_t required, std::size_t allowed,
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
                  required == allowed ? "" : "at least ", required);
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
  const std::size_t all = reference_.rows().size();
  const Seen hashed = read(false);
  if (hashed.look.outcome == TableLook::Outcome::busy) return false;
  if (reference_.is_exact() && hashed.hash == reference_.hash_of_first(all)) {
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
