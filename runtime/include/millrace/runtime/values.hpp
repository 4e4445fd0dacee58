#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/runtime/source.hpp"

namespace millrace {

/// Reads some rows in memory. Copies none.
template <class T>
class ValuesReader final : public SourceReader<T> {
 public:
  ValuesReader(std::shared_ptr<const std::vector<T>> all, std::span<const T> rows, Position from)
      : all_(std::move(all)), rows_(rows), next_(static_cast<std::size_t>(from.offset)) {}

  Reading<T> next(std::size_t most) override {
    using Then = typename Reading<T>::Then;
    const auto lent = rows_.subspan(next_, std::min(most, rows_.size() - next_));
    next_ += lent.size();
    return {lent, lent.empty() ? Then::end : Then::more};
  }
  Position position() const override {
    const auto next = static_cast<std::int64_t>(next_);
    return {next, next + 1};
  }
  std::uint64_t skipped() const override { return 0; }

 private:
  std::shared_ptr<const std::vector<T>> all_;
  std::span<const T> rows_;
  std::size_t next_;
};

/// The name of partition `i` of rows in memory: sorted by name, they are sorted by number.
std::string values_partition(int i);

/// Rows in memory, for tests and benchmarks: `partitions` runs of them of about one length, each a
/// partition whose positions are numbers of rows. Rows are lent as they lie there.
///
///     from("visits", values(std::vector<Visit>{...})).event_time<&Visit::at>(disorder(0s))
///
/// A partition is known again by its name and length only: another vector of the same length looks
/// like the same input.
template <class T>
Source<T> values(std::vector<T> rows, int partitions = 1) {
  const auto all = std::make_shared<const std::vector<T>>(std::move(rows));
  const auto begin_of = [all, partitions](int i) {
    return all->size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(partitions);
  };
  Source<T> source;
  source.kind = "values";
  source.partitions = [begin_of, partitions](Env&) {
    std::vector<PartitionFacts> facts;
    for (int i = 0; i < partitions; ++i) {
      const auto length = begin_of(i + 1) - begin_of(i);
      facts.push_back({values_partition(i), static_cast<std::int64_t>(length), 0});
    }
    return facts;
  };
  source.open = [all, begin_of, partitions](Env&, const std::string& name, Position from,
                                            std::int64_t end) {
    int i = 0;
    while (i + 1 < partitions && values_partition(i) != name) ++i;
    const std::span<const T> rows_of_it =
        std::span<const T>(*all).subspan(begin_of(i), static_cast<std::size_t>(end));
    return std::make_unique<ValuesReader<T>>(all, rows_of_it, from);
  };
  return source;
}

}  // namespace millrace
