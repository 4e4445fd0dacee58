#include <array>
#include <cstring>
#include <functional>
#include <queue>
#include <stdexcept>

#include <boost/context/fiber.hpp>
#include <sqlite3.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "simulator.hpp"

namespace millrace::bench {
namespace {

constexpr int rounds = 5;

double median_ns(int times, const std::function<void(int)>& act) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i) {
    values.push_back(seconds_of([&] { act(times); }) * 1e9 / times);
  }
  return median(values);
}

void switch_fibers(int times) {
  boost::context::fiber fiber([times](boost::context::fiber&& outside) {
    for (int i = 0; i < times; ++i) outside = std::move(outside).resume();
    return std::move(outside);
  });
  for (int i = 0; i <= times; ++i) fiber = std::move(fiber).resume();
}

void hold_in_heap(int times) {
  struct Event {
    std::uint64_t at;
    std::uint64_t order;
    void* what;
    bool operator>(const Event& other) const { return at > other.at; }
  };
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::uint64_t chance = 1;
  std::uint64_t order = 0;
  const auto add = [&](std::uint64_t now) {
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    events.push({now + (chance >> 40), ++order, nullptr});
  };
  for (int i = 0; i < 10'000; ++i) add(0);
  for (int i = 0; i < times; ++i) {
    const std::uint64_t now = events.top().at;
    events.pop();
    add(now);
  }
}

void hash_64_bytes(int times) {
  std::array<std::uint64_t, 8> bytes{};
  for (int i = 0; i < times; ++i) bytes[0] = XXH3_64bits(bytes.data(), sizeof bytes);
  if (bytes[0] == 1) throw std::runtime_error("this cannot be, and nobody can know it");
}

void expect(int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errstr(code));
}

void commit_100_rows(int times) {
  sqlite3* database = nullptr;
  expect(sqlite3_open(":memory:", &database));
  expect(sqlite3_exec(database, "CREATE TABLE rows(key INTEGER, value INTEGER)", nullptr, nullptr,
                      nullptr));
  sqlite3_stmt* insert = nullptr;
  expect(sqlite3_prepare_v2(database, "INSERT INTO rows VALUES (?, ?)", -1, &insert, nullptr));
  for (int i = 0; i < times; ++i) {
    expect(sqlite3_exec(database, "BEGIN", nullptr, nullptr, nullptr));
    for (int row = 0; row < 100; ++row) {
      sqlite3_bind_int(insert, 1, row);
      sqlite3_bind_int(insert, 2, i);
      expect(sqlite3_step(insert));
      sqlite3_reset(insert);
    }
    expect(sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr));
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
}

}  // namespace

void calibrate(const Report& report) {
  if (!report.wants("machine/")) return;
  report.add({"machine/fiber-switch", "ns", median_ns(10'000'000, switch_fibers) / 2});
  report.add({"machine/heap-10k", "ns", median_ns(2'000'000, hold_in_heap)});
  report.add({"machine/xxh3-64b", "ns", median_ns(20'000'000, hash_64_bytes)});
  report.add({"machine/sqlite-100-rows", "ns", median_ns(2'000, commit_100_rows)});
}

}  // namespace millrace::bench
