#include "feed_job.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "millrace/runtime/job_file.hpp"
#include "millrace/sqlite/table_reader.hpp"

namespace millrace::tests {
namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

FeedJob::FeedJob(const properties::Subject& subject, std::uint32_t parallelism)
    : reference_(subject.reference()) {
  const std::string input = directory() + "/in";
  std::filesystem::create_directory(input);
  for (const properties::InputPartition& partition : subject.input.partitions) {
    write(input + "/" + partition.name, partition.text);
  }
  JobSpec spec = subject.spec;
  spec.parallelism = parallelism;
  spec.sources.front().files = input + "/*.jsonl";
  spec.sinks.front().database = directory() + "/out.db";
  spec.state_directory = directory() + "/state";
  spec.checkpoint.interval = std::chrono::milliseconds(40);
  const std::string file = directory() + "/job.toml";
  write(file, to_toml(spec));
  spec_ = parse_job_file(to_toml(spec), file);
}

std::optional<FeedJob::Rows> FeedJob::visible() const {
  Rows rows;
  const TableLook look = TableReader(spec_.sinks.front().database, "", spec_.sinks.front().table)
                             .look([&](std::int64_t, std::span<const Cell> cells) {
                               rows.push_back(properties::own(cells));
                             });
  if (look.outcome == TableLook::Outcome::busy) return std::nullopt;
  return rows;
}

std::string FeedJob::complaint() const {
  const auto rows = visible();
  if (!rows) return "nobody is let into the database of a job that has ended";
  if (rows->size() != reference_.rows().size()) {
    return fmt::format("{} rows and not {}:{}", rows->size(), reference_.rows().size(),
                       texts_of(*rows));
  }
  return complaint_about(*rows);
}

std::string FeedJob::complaint_about(const Rows& rows) const {
  const auto& expected = reference_.rows();
  const std::size_t count = rows.size();
  if (count > expected.size()) return "more rows than there can be:" + texts_of(rows);
  properties::RowSetHash hash;
  for (const properties::OwnedRow& row : rows) hash.add(properties::lend(row));
  if (!(hash == reference_.hash_of_first(count))) {
    return fmt::format("the {} rows are not the first ones:{}", count, texts_of(rows));
  }
  const bool ends_between_windows =
      count == 0 || count == expected.size() ||
      expected[count - 1].last_instant != expected[count].last_instant;
  return ends_between_windows ? "" : fmt::format("{} rows end amidst a window", count);
}

std::string FeedJob::texts_of(const Rows& rows) const {
  std::string texts;
  for (const properties::OwnedRow& row : rows) {
    texts += "\n  " + properties::to_text(row, reference_.columns());
  }
  return texts;
}

}  // namespace millrace::tests
