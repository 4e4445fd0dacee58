#include "mini_job.hpp"

#include <array>
#include <map>
#include <stdexcept>

#include <sqlite3.h>

#include "mini_loop.hpp"

namespace millrace::bench {
namespace {

constexpr std::uint64_t records = 1'000;
constexpr std::uint64_t checkpoints = 10;
constexpr std::uint64_t records_per_checkpoint = records / checkpoints;
constexpr std::uint64_t counters = 2;
constexpr std::uint64_t keys = 40;
constexpr std::uint64_t barrier = 1ULL << 32;  ///< Or-ed to the number of a checkpoint.

using Counts = std::map<std::uint64_t, std::uint64_t>;

class MemoryMiniTable final : public MiniTable {
 public:
  void publish(std::uint64_t checkpoint, const std::vector<Row>& rows) override {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    marker_ = checkpoint;
  }
  std::uint64_t marker() override { return marker_; }
  std::vector<Row> rows() override { return rows_; }

 private:
  std::vector<Row> rows_;
  std::uint64_t marker_ = 0;
};

class SqliteMiniTable final : public MiniTable {
 public:
  SqliteMiniTable() {
    expect(sqlite3_open(":memory:", &database_));
    execute(
        "CREATE TABLE rows(key INTEGER, count INTEGER); CREATE INDEX by_key ON rows(key);"
        "CREATE TABLE marker(n INTEGER); INSERT INTO marker VALUES (0)");
    insert_ = prepare("INSERT INTO rows VALUES (?1, ?2)");
    raise_ = prepare("UPDATE marker SET n = ?1");
    read_ = prepare("SELECT n FROM marker");
    select_ = prepare("SELECT key, count FROM rows");
  }
  ~SqliteMiniTable() override {
    for (sqlite3_stmt* const statement : {insert_, raise_, read_, select_}) {
      sqlite3_finalize(statement);
    }
    sqlite3_close(database_);
  }

  void publish(std::uint64_t checkpoint, const std::vector<Row>& rows) override {
    execute("BEGIN");
    for (const Row& row : rows) {
      sqlite3_bind_int64(insert_, 1, static_cast<std::int64_t>(row.key));
      sqlite3_bind_int64(insert_, 2, static_cast<std::int64_t>(row.count));
      expect(sqlite3_step(insert_));
      sqlite3_reset(insert_);
    }
    sqlite3_bind_int64(raise_, 1, static_cast<std::int64_t>(checkpoint));
    expect(sqlite3_step(raise_));
    sqlite3_reset(raise_);
    execute("COMMIT");
  }
  std::uint64_t marker() override {
    expect(sqlite3_step(read_));
    const auto number = static_cast<std::uint64_t>(sqlite3_column_int64(read_, 0));
    sqlite3_reset(read_);
    return number;
  }
  std::vector<Row> rows() override {
    std::vector<Row> rows;
    while (sqlite3_step(select_) == SQLITE_ROW) {
      rows.push_back({static_cast<std::uint64_t>(sqlite3_column_int64(select_, 0)),
                      static_cast<std::uint64_t>(sqlite3_column_int64(select_, 1))});
    }
    sqlite3_reset(select_);
    return rows;
  }

 private:
  static void expect(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    throw std::runtime_error(sqlite3_errstr(code));
  }
  void execute(const char* sql) { expect(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    expect(sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr));
    return statement;
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* raise_ = nullptr;
  sqlite3_stmt* read_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
};

/// What outlives a crash.
struct Snapshot {
  std::array<Counts, counters> state;
  std::array<std::vector<MiniTable::Row>, counters> staged;
  std::uint64_t acknowledged = 0;
};

class MiniJob {
 public:
  MiniJob(std::uint64_t seed, MiniTable& table) : table_(table), snapshots_(checkpoints + 1) {
    for (std::uint64_t i = 0; i < seed % 64; ++i) loop_.draw(2);
    crash_at_ = loop_.draw(records * 2);
  }

  void run() {
    deploy();
    loop_.run();
    if (crash_at_ != 0) crash();
    loop_.run();
    if (table_.marker() != checkpoints) throw std::runtime_error("the mini job has not ended");
  }

 private:
  static std::uint64_t key_of(std::uint64_t record) { return record * 7 % keys; }

  void deploy() {
    arrival_.fill(loop_.now());
    coordinator_ = loop_.add([this] { coordinate(); });
    for (std::uint64_t i = 0; i < counters; ++i) {
      counters_[i] = loop_.add([this, i] { count(i); });
    }
    source_ = loop_.add([this] { read(); });
    loop_.schedule(loop_.now(), source_, 0);
  }

  void crash() {
    crash_at_ = 0;
    for (const std::size_t fiber : {source_, counters_[0], counters_[1], coordinator_}) {
      loop_.end(fiber);
    }
    loop_.clear();
    for (std::uint64_t n = complete_ + 1; n <= checkpoints; ++n) snapshots_[n] = {};
    deploy();
  }

  void count_event() {
    if (crash_at_ != 0 && --crash_at_ == 0) {
      crash_at_ = 1;
      loop_.stop();
    }
  }

  /// In order: nothing overtakes on a link.
  void send(std::uint64_t link, std::size_t to, std::uint64_t what) {
    arrival_[link] = std::max(arrival_[link], loop_.now() + 100 + loop_.draw(700));
    loop_.schedule(arrival_[link], to, what);
  }

  void read() {
    for (std::uint64_t n = complete_ + 1; n <= checkpoints; ++n) {
      for (std::uint64_t i = 0; i < records_per_checkpoint; ++i) {
        const std::uint64_t key = key_of((n - 1) * records_per_checkpoint + i);
        send(key % counters, counters_[key % counters], key);
      }
      for (std::uint64_t i = 0; i < counters; ++i) send(i, counters_[i], barrier | n);
      loop_.schedule(loop_.now() + 10'000, source_, 0);
      loop_.wait();
      count_event();
    }
    loop_.wait();
  }

  void count(std::uint64_t me) {
    Counts state = snapshots_[complete_].state[me];
    Counts fresh;
    while (true) {
      const std::uint64_t what = loop_.wait();
      count_event();
      if ((what & barrier) == 0) {
        ++state[what];
        ++fresh[what];
        continue;
      }
      Snapshot& snapshot = snapshots_[what & ~barrier];
      snapshot.state[me] = state;
      for (const auto& [key, count] : fresh) snapshot.staged[me].push_back({key, count});
      fresh.clear();
      send(counters + me, coordinator_, what & ~barrier);
    }
  }

  void coordinate() {
    while (true) {
      const std::uint64_t n = loop_.wait();
      count_event();
      if (++snapshots_[n].acknowledged < counters) continue;
      complete_ = n;
      std::vector<MiniTable::Row> rows;
      for (const auto& staged : snapshots_[n].staged) {
        rows.insert(rows.end(), staged.begin(), staged.end());
      }
      table_.publish(n, rows);
      judge();
    }
  }

  void judge() {
    Counts seen;
    for (const MiniTable::Row& row : table_.rows()) seen[row.key] += row.count;
    for (; judged_ < table_.marker() * records_per_checkpoint; ++judged_) ++truth_[key_of(judged_)];
    if (seen != truth_) throw std::runtime_error("a mini job counted wrong");
  }

  MiniLoop loop_;
  MiniTable& table_;
  std::vector<Snapshot> snapshots_;
  std::uint64_t complete_ = 0;
  std::uint64_t crash_at_;  ///< So many events until then; 0: it is over.
  std::array<std::uint64_t, 2 * counters> arrival_{};
  std::size_t coordinator_ = 0;
  std::array<std::size_t, counters> counters_{};
  std::size_t source_ = 0;
  Counts truth_;
  std::uint64_t judged_ = 0;
};

}  // namespace

std::unique_ptr<MiniTable> make_memory_mini_table() { return std::make_unique<MemoryMiniTable>(); }
std::unique_ptr<MiniTable> make_sqlite_mini_table() { return std::make_unique<SqliteMiniTable>(); }

void run_mini_job(std::uint64_t seed, MiniTable& table) { MiniJob(seed, table).run(); }

}  // namespace millrace::bench
