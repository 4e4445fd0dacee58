#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/env/cells.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace {

// The sink that most tests of this room write to, and what is needed to write to it and to look.

inline constexpr Lineage ours{1, 2};
inline constexpr Lineage theirs{3, 4};

/// `words(word TEXT NOT NULL, count INTEGER NOT NULL, share REAL)` with a plain key `word`.
TableSchema word_counts();
/// The same with the key as a constraint.
TableSchema unique_word_counts();

struct WordCount {
  std::string word;
  std::int64_t count = 0;
  std::optional<double> share = std::nullopt;
};
Bytes block(const std::vector<WordCount>& rows);

/// `count` rows that differ: word0, word1, ...
std::vector<WordCount> many_words(std::int64_t count);

/// A batch of staged rows, in blocks.
struct StagedBatch {
  CheckpointId id;
  std::vector<Bytes> blocks;
};

/// Batches in memory. Counts what is asked of it.
class StagedList final : public StagedBatches {
 public:
  explicit StagedList(std::vector<StagedBatch> batches) : batches_(std::move(batches)) {}
  std::optional<CheckpointId> next_batch() override;
  std::span<const std::byte> next_block() override;

  std::size_t batches_taken = 0;
  std::size_t blocks_taken = 0;
  /// Called when the last batch was taken and none is left. May throw.
  std::function<void()> at_end;

 private:
  std::vector<StagedBatch> batches_;
  std::size_t block_ = 0;
};

FenceRequest from_genesis(Term term);
FenceRequest from_past(Term term);

/// The usual beginning: ensured, and fenced by `term` of our lineage.
void start(SinkTable& table, Term term);

/// Publishes checkpoint `id` with the only batch `rows`.
PublishOutcome publish(SinkTable& table, Term term, CheckpointId id,
                       const std::vector<WordCount>& rows);

/// What another program sees of table `words` in the database at `path`: `word0 1`, in order.
std::vector<std::string> visible(const std::string& path);
std::optional<Marker> visible_marker(const std::string& path);

/// The text of the error of this type that `act` throws, or "" if it throws none.
template <class Error, class Act>
std::string text_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace millrace
