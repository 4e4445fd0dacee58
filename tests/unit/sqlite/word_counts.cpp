#include "word_counts.hpp"

#include <fmt/format.h>

#include "millrace/sqlite/table_reader.hpp"

namespace millrace {

TableSchema word_counts() {
  TableSchema schema;
  schema.table = "words";
  schema.columns = {{"word", TableSchema::Type::text},
                    {"count", TableSchema::Type::integer},
                    {"share", TableSchema::Type::real, true}};
  schema.key = {"word"};
  return schema;
}

TableSchema unique_word_counts() {
  TableSchema schema = word_counts();
  schema.unique_key = true;
  return schema;
}

Bytes block(const std::vector<WordCount>& rows) {
  CellWriter writer;
  for (const auto& row : rows) {
    writer.text(row.word);
    writer.integer(row.count);
    writer.cell(row.share ? Cell{*row.share} : Cell{});
    writer.end_row();
  }
  return writer.take();
}

std::vector<WordCount> many_words(std::int64_t count) {
  std::vector<WordCount> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back({fmt::format("word{}", i), i, 0.5});
  return rows;
}

std::optional<CheckpointId> StagedList::next_batch() {
  block_ = 0;
  if (batches_taken == batches_.size()) {
    if (at_end) at_end();
    return std::nullopt;
  }
  return batches_[batches_taken++].id;
}

std::span<const std::byte> StagedList::next_block() {
  const auto& blocks = batches_[batches_taken - 1].blocks;
  if (block_ == blocks.size()) return {};
  ++blocks_taken;
  return blocks[block_++];
}

FenceRequest from_genesis(Term term) { return {ours, term, true, false}; }
FenceRequest from_past(Term term) { return {ours, term, false, false}; }

void start(SinkTable& table, Term term) {
  table.ensure(Instant::never());
  table.fence(from_genesis(term), Instant::never());
}

PublishOutcome publish(SinkTable& table, Term term, CheckpointId id,
                       const std::vector<WordCount>& rows) {
  StagedList batches({{id, {block(rows)}}});
  return table.publish(ours, term, id, batches, Instant::never());
}

std::vector<std::string> visible(const std::string& path) {
  std::vector<std::string> rows;
  TableReader(path, "", "words").look([&](std::int64_t, std::span<const Cell> cells) {
    rows.push_back(fmt::format("{} {}", std::get<std::string_view>(cells[0]),
                               std::get<std::int64_t>(cells[1])));
  });
  return rows;
}

std::optional<Marker> visible_marker(const std::string& path) {
  return TableReader(path, "", "words").look([](std::int64_t, std::span<const Cell>) {}).marker;
}

}  // namespace millrace
