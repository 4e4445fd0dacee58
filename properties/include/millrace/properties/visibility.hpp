#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/identity.hpp"
#include "millrace/env/table_look.hpp"
#include "millrace/properties/outcome.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/properties/row_comparison.hpp"

namespace millrace::properties {

/// Judges what a concurrent reader of a sink sees, at every moment (PROTOCOL 8).
///
/// Of a staged sink always the state of one completed checkpoint, all of it, and never an earlier
/// one than before. Of the others always all rows of the newest completed checkpoint, and besides
/// rows of the reference only; of an upsert sink each once. At the end each row once, of every
/// sink: a sink that promises less is convicted of it.
///
/// The run itself says what a checkpoint has read; the judge computes what must then be visible. A
/// false claim convicts itself. Of a reference that does not know when its rows are visible no row
/// is required before the end: then a staged sink may show any of them and take none back, and of
/// an upsert sink, which may show what comes before them, only the end is judged.
class VisibilityJudge {
 public:
  /// Looks at the sink's table as any reader of its database would. May throw WorldErrors.
  using Reader = std::function<TableLook(const TableVisit&)>;

  /// `decided` tells which checkpoint the store's register names, whatever anybody says.
  VisibilityJudge(const Reference& reference, SinkMode mode, Reader reader,
                  std::function<std::optional<CheckpointId>()> decided)
      : reference_(reference),
        mode_(mode),
        reader_(std::move(reader)),
        decided_(std::move(decided)) {}

  /// A manifest was written: what checkpoint `id` claims to have read.
  void claimed(CheckpointId id, std::vector<Claim> claims) { claims_[id] = std::move(claims); }

  /// Something was committed: look at the table.
  void look();

  /// The run is over, and the job says that all is visible: look once more, at everything.
  /// Returns whether somebody was let in.
  bool look_at_the_end();

  /// The first breach, and the rows that were wrong then.
  const std::optional<Breach>& breach() const { return breach_; }
  const RowCounts& rows() const { return rows_; }
  /// What there was to see at the end; nothing: just the rows of the reference.
  const std::optional<std::vector<OwnedRow>>& last_rows() const { return last_rows_; }
  std::uint64_t looks() const { return looks_; }

 private:
  struct Seen {
    TableLook look;
    RowSetHash hash;
    std::vector<OwnedRow> rows;  ///< Only if asked for.
  };
  Seen read(bool with_rows);
  void judge(const TableLook& look, const RowSetHash& hash);
  void judge_direct(const std::string& when);
  void judge_progress(CheckpointId before, CheckpointId now);
  void judge_rows(const ShownRows& required, const ShownRows& allowed, const std::string& when);
  ShownRows none() const { return reference_.first_rows(0); }
  ShownRows all() const { return reference_.first_rows(reference_.rows().size()); }
  void judge_growth(const std::vector<OwnedRow>& rows, const std::string& when);
  void convict(std::string judge, std::string what);

  const Reference& reference_;
  SinkMode mode_;
  Reader reader_;
  std::function<std::optional<CheckpointId>()> decided_;
  std::map<CheckpointId, std::vector<Claim>> claims_;
  std::optional<CheckpointId> newest_;  ///< That was visible.
  std::optional<Breach> breach_;
  RowCounts rows_;
  std::optional<std::vector<OwnedRow>> last_rows_;
  std::map<OwnedRow, std::size_t> shown_;  ///< While nothing else is known about what must be.
  std::uint64_t looks_ = 0;
};

}  // namespace millrace::properties
