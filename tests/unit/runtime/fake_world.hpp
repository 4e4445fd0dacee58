#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"

namespace millrace {

/// A clock that stands still until it is told.
class StandingClock final : public Clock {
 public:
  Instant now() override { return now_; }
  EventTime wall() override { return wall_; }
  void advance(std::chrono::nanoseconds span) { now_ = now_ + span; }
  void set_wall(EventTime time) { wall_ = time; }

 private:
  EventTime wall_{0};
  Instant now_{1'000'000'000};
};

/// Thrown by a wait that nothing in a fake world can end.
struct EndlessWait {};

/// Waits by moving the clock, and counts who wakes it. Throws EndlessWait.
class CountingParker final : public Parker {
 public:
  explicit CountingParker(StandingClock& clock) : clock_(clock) {}
  bool park_until(Instant deadline) override;
  void unpark() override { ++unparked; }
  void step(Site) override {}
  int unparked = 0;

 private:
  StandingClock& clock_;
};

/// Objects and registers in memory, and answers that get lost when a test wants it.
class MemoryStore final : public ObjectStore {
 public:
  std::map<std::string, Bytes, std::less<>> objects;
  std::map<std::string, Versioned, std::less<>> registers;
  /// Called before a swap: what it throws or returns instead of the store's own answer.
  std::function<std::optional<SwapOutcome>()> before_swap;
  /// Called before an object is put: what it throws or returns instead of the store's own answer.
  std::function<std::optional<PutOutcome>(std::string_view name)> before_put;
  std::vector<Bytes> swapped;  ///< What swaps wanted to write, in order.

  std::unique_ptr<ObjectWriter> create(std::string_view name) override;
  std::optional<Bytes> read(std::string_view name, std::uint64_t offset, std::uint64_t length,
                            Instant deadline) override;
  Versioned read_register(std::string_view name, Instant deadline) override;
  SwapOutcome put_if_version(std::string_view name, std::uint64_t expected,
                             std::span<const std::byte> bytes, Instant deadline) override;
  void remove(std::string_view name, Instant deadline) override;
  std::vector<std::string> list(std::string_view prefix, Instant deadline) override;

 private:
  class Writer;
};

/// A log of one address whose partitions are texts; a line is an entry.
class TextLog final : public LogReader {
 public:
  std::map<std::string, std::string> partitions_by_name;
  std::size_t most_per_read = 1'000'000;  ///< A reader gives no more at once.

  std::vector<PartitionFacts> partitions(const std::string& address, Instant deadline) override;
  std::unique_ptr<PartitionReader> open(const std::string& address, const std::string& partition,
                                        Position from, std::int64_t end) override;

 private:
  class Reader;
};

/// Chance as a test wants it; quiet by default.
class ScriptedChance final : public Chance {
 public:
  std::function<std::uint64_t(Site site, std::uint64_t bound, std::uint32_t part)> script;
  std::uint64_t below(Site site, std::uint64_t bound, std::uint32_t part) override {
    return script ? script(site, bound, part) : 0;
  }
  std::uint64_t explore(Site site, std::uint64_t bound, std::uint32_t part) override {
    return script ? script(site, bound, part) : 0;
  }
};

/// Remembers which landmarks were reached, in order, and how many each was about.
class RecordedLandmarks final : public Landmarks {
 public:
  struct Reached {
    std::string name;
    std::string role;
    CheckpointId id;
    std::uint64_t count = 0;
    friend bool operator==(const Reached&, const Reached&) = default;
  };
  std::vector<Reached> list;

  void reached(const Landmark& landmark, std::string_view role,
               const LandmarkFields& fields) override {
    list.push_back({std::string(landmark.name), std::string(role), fields.id, fields.count});
  }
  /// How often, and about how many in all.
  std::size_t times(std::string_view name) const;
  std::uint64_t counted(std::string_view name) const;
};

/// Remembers which effects were asked for, and what functions made of what, if it is to watch.
class RecordedUserCode final : public UserCode {
 public:
  struct Executed {
    std::string service;
    std::string request;
    std::string key;
    std::uint64_t cause = 0;
  };
  std::vector<Executed> effects;
  std::vector<FunctionRun> runs;
  bool watches = false;

  void execute(std::string_view, const Effect& effect) override {
    effects.push_back({std::string(effect.service), std::string(effect.request),
                       std::string(effect.key), effect.cause});
  }
  bool is_watched() const override { return watches; }
  void ran(std::string_view, const FunctionRun& run) override { runs.push_back(run); }
};

/// What of a world these tests need: time that moves when told, a store and a log in memory, quiet
/// chance. There are no tasks, networks, disks and databases; whoever asks for one fails the test.
class FakeWorld {
 public:
  FakeWorld();
  ~FakeWorld();

  Env env(std::string role = "test");

  StandingClock clock;
  CountingParker parker{clock};
  MemoryStore store;
  TextLog log;
  ScriptedChance chance;
  RecordedLandmarks landmarks;
  RecordedUserCode user_code;

 private:
  struct Nothing;
  std::unique_ptr<Nothing> nothing_;
};

}  // namespace millrace
