#pragma once

#include <array>
#include <cstddef>

#include "nexmark_tally.hpp"

namespace millrace::bench {

/// Rows on their way to whoever reads them: 8 KiB, a quarter of the first cache. Twice that and
/// more is slower, since the events come through there too.
template <class Row>
class RowBatch {
 public:
  void add(const Row& row) {
    rows_[size_++] = row;
    if (size_ == rows_.size()) read();
  }

  /// What all rows so far add up to.
  const Tally& read() {
    for (std::size_t i = 0; i < size_; ++i) tally_.add(rows_[i]);
    size_ = 0;
    return tally_;
  }

 private:
  static constexpr std::size_t bytes = 8 * 1024;

  std::array<Row, bytes / sizeof(Row)> rows_;
  std::size_t size_ = 0;
  Tally tally_;
};

}  // namespace millrace::bench
