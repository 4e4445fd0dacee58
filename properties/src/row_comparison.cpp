#include "millrace/properties/row_comparison.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace millrace::properties {
namespace {

constexpr std::size_t most_examples = 3;

using ExpectedRow = Reference::ExpectedRow;

class Comparing {
 public:
  Comparing(const Reference& reference, const ShownRows& required, const ShownRows& allowed)
      : reference_(reference), families_(reference.families()), is_end_(required.is_final) {
    for (std::size_t i = 0; i < reference.rows().size(); ++i) {
      const ExpectedRow& row = reference.rows()[i];
      auto& side = side_of(row.cells);
      (required.is_shown[i]  ? side.must
       : allowed.is_shown[i] ? side.may
                             : side.early)
          .push_back(&row);
    }
  }

  RowComparison with(const std::vector<OwnedRow>& seen) {
    for (const OwnedRow& row : seen) side_of(row).seen.push_back(&row);
    for (auto& [key, side] : by_key_) judge(side);
    for (auto& [key, side] : by_family_) judge_family(families_.open.at(key), side);
    return std::move(result_);
  }

 private:
  /// What belongs in one place, and what is there.
  struct Side {
    std::vector<const ExpectedRow*> must, may, early;
    std::vector<const OwnedRow*> seen;
  };

  Side& side_of(const OwnedRow& row) {
    if (!families_.open.empty()) {
      OwnedRow family = families_.of(row);
      if (families_.open.contains(family)) return by_family_[std::move(family)];
    }
    OwnedRow key;
    for (const std::size_t column : reference_.key_columns()) {
      if (column < row.size()) key.push_back(row[column]);
    }
    return by_key_[std::move(key)];
  }

  void judge(Side& side) {
    // Each row that is as it should be explains one that is expected; required ones first, and of
    // equal ones those that are certain: a join may make one pair in several windows.
    std::stable_partition(side.must.begin(), side.must.end(),
                          [](const ExpectedRow* row) { return row->is_certain; });
    const auto missing = take(side.must, side.seen);
    const auto unseen = take(side.may, side.seen);
    // The rest stands in the place of what is missing: it was altered on the way.
    const auto alter = [&](const ExpectedRow& row) {
      ++(row.is_certain ? result_.counts.altered : result_.counts.unjudged);
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
        ++(row->is_certain ? result_.counts.lost : result_.counts.unjudged);
        if (row->is_certain) example("lost", row->cells);
      }
    }
    for (const auto* row : unseen) {
      if (!side.seen.empty()) alter(*row);
    }
    if (side.seen.empty()) return;
    if (!side.must.empty() || !side.may.empty()) {
      duplicated(side.seen.size(), *side.seen.front());
    } else {
      unexpected(side);
    }
  }

  /// Takes the rows out of `seen` that are as expected, and returns the expected ones that are not
  /// there.
  static std::vector<const ExpectedRow*> take(const std::vector<const ExpectedRow*>& expected,
                                              std::vector<const OwnedRow*>& seen) {
    std::vector<const ExpectedRow*> missing;
    for (const ExpectedRow* row : expected) {
      const auto found = std::find_if(seen.begin(), seen.end(),
                                      [&](const OwnedRow* one) { return *one == row->cells; });
      if (found == seen.end()) {
        missing.push_back(row);
      } else {
        seen.erase(found);
      }
    }
    return missing;
  }

  void judge_family(const Reference::Family& family, Side& side) {
    if (family.is_anything) {
      result_.counts.unjudged += std::max(side.must.size(), side.seen.size());
      return;
    }
    if (side.seen.empty()) {
      const bool is_lost = family.is_there || (is_end_ && !family.last.empty());
      (is_lost ? result_.counts.lost : result_.counts.unjudged) += side.must.size();
      if (is_lost && !side.must.empty()) example("lost", side.must.front()->cells);
      return;
    }
    if (side.must.empty() && side.may.empty() && !family.is_due_any_time) return unexpected(side);
    std::sort(side.seen.begin(), side.seen.end(),
              [](const OwnedRow* a, const OwnedRow* b) { return *a < *b; });
    const auto same = std::adjacent_find(side.seen.begin(), side.seen.end(),
                                         [](const auto* a, const auto* b) { return *a == *b; });
    if (side.seen.size() > family.most || same != side.seen.end()) {
      const std::size_t over = side.seen.size() > family.most ? side.seen.size() - family.most : 1;
      return duplicated(over, same != side.seen.end() ? **same : *side.seen.back());
    }
    // They agree in all columns before `pane`, so that the newest is behind the others.
    for (const OwnedRow* row : side.seen) {
      if (family.members.empty() || family.members.contains(*row)) continue;
      ++result_.counts.altered;
      return example("altered", *row);
    }
    if (is_end_ && !is_last(family.last, *side.seen.back())) {
      ++result_.counts.altered;
      example("altered", *side.seen.back());
      return example("expected in the end", family.last.front());
    }
    const std::size_t missing = take(side.must, side.seen).size();
    take(side.may, side.seen);
    result_.counts.unjudged += std::max(missing, side.seen.size());
  }

  bool is_last(const std::vector<OwnedRow>& last, OwnedRow row) const {
    const auto pane = families_.pane_column;
    return last.empty() || std::any_of(last.begin(), last.end(), [&](const OwnedRow& one) {
             if (pane && *pane < one.size() && *pane < row.size()) row[*pane] = one[*pane];
             return one == row;
           });
  }

  void duplicated(std::size_t times, const OwnedRow& row) {
    result_.counts.duplicated += times;
    example("duplicated", row);
  }
  void unexpected(const Side& side) {
    result_.counts.unexpected += side.seen.size();
    example(side.early.empty() ? "unexpected" : "too early", *side.seen.front());
  }
  void example(std::string_view what, const OwnedRow& row) {
    if (result_.examples.size() == most_examples) return;
    result_.examples.push_back(fmt::format("{}: {}", what, to_text(row, reference_.columns())));
  }

  const Reference& reference_;
  const Reference::Families& families_;
  bool is_end_;
  std::map<OwnedRow, Side> by_key_;
  std::map<OwnedRow, Side> by_family_;
  RowComparison result_;
};

}  // namespace

RowComparison compare_rows(const Reference& reference, const ShownRows& required,
                           const ShownRows& allowed, const std::vector<OwnedRow>& seen) {
  return Comparing(reference, required, allowed).with(seen);
}

RowComparison compare_rows(const Reference& reference, std::size_t required, std::size_t allowed,
                           const std::vector<OwnedRow>& seen) {
  return compare_rows(reference, reference.first_rows(required), reference.first_rows(allowed),
                      seen);
}

}  // namespace millrace::properties
