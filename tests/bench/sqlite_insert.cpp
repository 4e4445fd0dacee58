// How fast `publish` puts staged rows into SQLite, against a bare loop over a prepared statement
// with the same table, the same key, the same settings and the same rows, which lie ready as
// structures. Prints value, floor (the bare loop) and their ratio.
//
//   sqlite_insert [--json] [DIRECTORY [ROWS-PER-TRANSACTION [TRANSACTIONS]]]

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include "millrace/env/cells.hpp"
#include "millrace/sqlite/sqlite_table.hpp"

#include "figures.hpp"

using namespace millrace;
using bench::seconds_of;

namespace {

constexpr int rounds = 7;

struct Row {
  std::string network;
  std::int64_t window_start;
  std::int64_t count;
  double max_magnitude;
};

TableSchema schema() {
  TableSchema result;
  result.table = "per_hour";
  result.columns = {{"network", TableSchema::Type::text},
                    {"window_start", TableSchema::Type::integer},
                    {"count", TableSchema::Type::integer},
                    {"max_magnitude", TableSchema::Type::real, true}};
  result.key = {"network", "window_start"};
  return result;
}

/// Rows as windows fire: in the order of their time, each key once a window.
std::vector<Row> rows_of(std::int64_t transaction, std::int64_t count) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t number = transaction * count + i;
    rows.push_back({fmt::format("network{}", number % 16), number / 16 * 3'600'000, number % 97,
                    static_cast<double>(number % 90) / 10});
  }
  return rows;
}

Bytes staged(const std::vector<Row>& rows) {
  CellWriter writer;
  for (const Row& row : rows) {
    writer.text(row.network);
    writer.integer(row.window_start);
    writer.integer(row.count);
    writer.real(row.max_magnitude);
    writer.end_row();
  }
  return writer.take();
}

class OneBatch final : public StagedBatches {
 public:
  OneBatch(CheckpointId id, std::span<const std::byte> block) : id_(id), block_(block) {}
  std::optional<CheckpointId> next_batch() override { return std::exchange(id_, std::nullopt); }
  std::span<const std::byte> next_block() override { return std::exchange(block_, {}); }

 private:
  std::optional<CheckpointId> id_;
  std::span<const std::byte> block_;
};

void expect(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  fmt::print(stderr, "{}\n", sqlite3_errmsg(database));
  std::exit(1);
}

double bare(const std::string& path, const std::vector<std::vector<Row>>& transactions) {
  sqlite3* database = nullptr;
  expect(sqlite3_open_v2(path.c_str(), &database,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr),
         database);
  const auto execute = [&](const char* sql) {
    expect(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), database);
  };
  execute("PRAGMA journal_mode = wal; PRAGMA synchronous = full");
  execute(
      "CREATE TABLE per_hour(network TEXT NOT NULL, window_start INTEGER NOT NULL,"
      " count INTEGER NOT NULL, max_magnitude REAL);"
      "CREATE INDEX per_hour_key ON per_hour(network, window_start)");
  sqlite3_stmt* insert = nullptr;
  expect(sqlite3_prepare_v2(database, "INSERT INTO per_hour VALUES (?, ?, ?, ?)", -1, &insert,
                            nullptr),
         database);
  const double seconds = seconds_of([&] {
    for (const auto& rows : transactions) {
      execute("BEGIN IMMEDIATE");
      for (const Row& row : rows) {
        sqlite3_bind_text(insert, 1, row.network.data(), static_cast<int>(row.network.size()),
                          SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, row.window_start);
        sqlite3_bind_int64(insert, 3, row.count);
        sqlite3_bind_double(insert, 4, row.max_magnitude);
        expect(sqlite3_step(insert), database);
        sqlite3_reset(insert);
      }
      execute("COMMIT");
    }
  });
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return seconds;
}

double published(const std::string& path, const std::vector<Bytes>& transactions) {
  SqliteTable table(path, "", schema());
  const Lineage lineage{1, 2};
  table.ensure(Instant::never());
  table.fence({lineage, {1}, true, false}, Instant::never());
  return seconds_of([&] {
    std::uint64_t n = 0;
    for (const Bytes& rows : transactions) {
      const CheckpointId id{{1}, ++n};
      OneBatch batch(id, rows);
      const auto outcome = table.publish(lineage, {1}, id, batch, Instant::never());
      if (outcome != PublishOutcome::published) std::exit(1);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Report report(argc, argv);
  const std::filesystem::path directory =
      std::filesystem::path(argc > 1 ? argv[1] : "/dev/shm") / "millrace-sqlite-insert";
  const std::int64_t row_count = argc > 2 ? std::atoll(argv[2]) : 100'000;
  const std::int64_t transaction_count = argc > 3 ? std::atoll(argv[3]) : 4;

  std::vector<std::vector<Row>> structures;
  std::vector<Bytes> blocks;
  for (std::int64_t i = 0; i < transaction_count; ++i) {
    structures.push_back(rows_of(i, row_count));
    blocks.push_back(staged(structures.back()));
  }

  const double all = static_cast<double>(row_count * transaction_count);
  const auto in_empty_directory = [&](auto act) {
    return [&directory, all, act] {
      std::filesystem::remove_all(directory);
      std::filesystem::create_directories(directory);
      return all / act(directory / "sink.db");
    };
  };
  const auto [value, floor] = bench::medians_of(
      rounds, in_empty_directory([&](const std::string& path) { return published(path, blocks); }),
      in_empty_directory([&](const std::string& path) { return bare(path, structures); }));
  std::filesystem::remove_all(directory);
  report.add({"sqlite/insert", "rows/s", value, floor, bench::ratio_at_least(0.7)});
}
