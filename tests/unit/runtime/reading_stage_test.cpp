#include "millrace/runtime/source/reading_stage.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "fake_world.hpp"
#include "violations.hpp"

using namespace millrace;

namespace {

struct Event {
  std::int64_t time = 0;
};

/// What partitions hold, and what was asked of them. A negative time is a bad record, skipped; no
/// entry beyond `available` is there yet.
struct Script {
  std::map<std::string, std::vector<std::int64_t>> times;
  std::map<std::string, std::size_t> available;
  std::vector<std::string> asked;
};

class ScriptedReader final : public SourceReader<Event> {
 public:
  ScriptedReader(Script& script, std::string partition, Position from, std::int64_t end)
      : script_(script),
        partition_(std::move(partition)),
        at_(from),
        end_(static_cast<std::size_t>(end)) {}

  Reading<Event> next(std::size_t most) override {
    using Then = Reading<Event>::Then;
    script_.asked.push_back(partition_);
    rows_.clear();
    const auto& times = script_.times.at(partition_);
    const auto found = script_.available.find(partition_);
    const std::size_t there = found == script_.available.end() ? end_ : found->second;
    auto at = static_cast<std::size_t>(at_.offset);
    for (; at < std::min(there, end_) && rows_.size() < most; ++at) {
      if (times[at] < 0) {
        ++skipped_;
      } else {
        rows_.push_back({times[at]});
      }
    }
    at_ = {static_cast<std::int64_t>(at), static_cast<std::int64_t>(at) + 1};
    if (!rows_.empty()) return {rows_, Then::more};
    return {{}, at == end_ ? Then::end : Then::wait};
  }
  Position position() const override { return at_; }
  std::uint64_t skipped() const override { return skipped_; }

 private:
  Script& script_;
  std::string partition_;
  Position at_;
  std::size_t end_;
  std::vector<Event> rows_;
  std::uint64_t skipped_ = 0;
};

/// Takes what the stage lends.
class Collecting final : public Borrower<Event> {
 public:
  std::vector<std::int64_t> times;
  std::vector<EventTime> watermarks;
  std::vector<bool> idle;
  int flushed = 0;

  EventTime borrow(const Event* rows, std::size_t count) override {
    EventTime newest = EventTime::min();
    for (std::size_t i = 0; i < count; ++i) {
      times.push_back(rows[i].time);
      newest = std::max(newest, EventTime{rows[i].time});
    }
    return newest;
  }
  void watermark(EventTime time) override { watermarks.push_back(time); }
  void flush() override { ++flushed; }
  void link(Way, Stage&) override {}
  void set_idle(bool is_idle) override { idle.push_back(is_idle); }
};

PartitionProgress untouched(std::string name) {
  PartitionProgress progress;
  progress.source = "source";
  progress.name = std::move(name);
  return progress;
}

/// A stage with all that it refers to.
struct OpenStage {
  explicit OpenStage(Script& script, std::vector<PartitionProgress> progress,
                     Duration at_most = Duration{0})
      : OpenStage(script, std::move(progress), SourceTime<Event>{disorder(at_most), nullptr, {}}) {}
  OpenStage(Script& script, std::vector<PartitionProgress> progress, SourceTime<Event> time)
      : stage({world.env("source.0"), {0, 1}, {}}, "source", source_of(script), std::move(time)) {
    stage.link({}, collected);
    Restored restored;
    for (PartitionProgress& one : progress) {
      const auto end = static_cast<std::int64_t>(script.times.at(one.name).size());
      restored.partitions.push_back({std::move(one), end});
    }
    stage.restore(restored);
  }

  static Source<Event> source_of(Script& script) {
    Source<Event> source;
    source.open = [&script](Env&, const std::string& partition, Position from, std::int64_t end) {
      return std::make_unique<ScriptedReader>(script, partition, from, end);
    };
    return source;
  }
  std::vector<PartitionProgress> saved() {
    Snapshot snapshot;
    stage.save(snapshot);
    return snapshot.acknowledgement.partitions;
  }

  FakeWorld world;
  Collecting collected;
  ReadingStage<Event> stage;
};

using Step = SourceStage::Step;
using Times = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a source reads the partition that is furthest behind, the first of equal ones",
          "[runtime][reading]") {
  Script script{{{"a", {10, 20, 40}}, {"b", {5, 10, 30}}}, {}, {}};
  OpenStage open(script, {untouched("a"), untouched("b")});

  for (int i = 0; i < 6; ++i) CHECK(open.stage.step(1) == Step::read);

  // Both unknown: a. Then b, which is unknown; b again, at 5; both at 10: a. b at 10, a at 20.
  CHECK(script.asked == Names{"a", "b", "b", "a", "b", "a"});
  CHECK(open.collected.times == Times{10, 5, 10, 20, 30, 40});
}

TEST_CASE("a source reads as many records at once as it may", "[runtime][reading]") {
  Script script{{{"a", {1, 2, 3, 4, 5}}}, {}, {}};
  OpenStage open(script, {untouched("a")});

  open.stage.step(2);
  CHECK(open.collected.times == Times{1, 2});
  open.stage.step(1);
  CHECK(open.collected.times == Times{1, 2, 3});
  open.stage.step(100);
  CHECK(open.collected.times == Times{1, 2, 3, 4, 5});
  CHECK(open.stage.records_read() == 5);
  CHECK(open.world.landmarks.times("batch_read") == 3);
  CHECK(open.world.landmarks.counted("batch_read") == 5);
}

TEST_CASE("a partition that has nothing now does not stop the others", "[runtime][reading]") {
  Script script{{{"a", {1, 2}}, {"b", {50, 60}}}, {{"a", 0}}, {}};
  OpenStage open(script, {untouched("a"), untouched("b")});

  CHECK(open.stage.step(1) == Step::read);
  CHECK(open.stage.step(1) == Step::read);
  CHECK(open.collected.times == Times{50, 60});
  CHECK(open.stage.step(1) == Step::idle);  // b has ended, a has not.
  script.asked.clear();
  CHECK(open.stage.step(1) == Step::idle);
  CHECK(script.asked == Names{"a"});  // Asked once, and b no more.

  script.available["a"] = 2;
  CHECK(open.stage.step(5) == Step::read);
  CHECK(open.collected.times == Times{50, 60, 1, 2});
}

TEST_CASE("a source has ended when all its partitions have", "[runtime][reading]") {
  Script script{{{"a", {1}}, {"b", {2}}}, {}, {}};
  OpenStage open(script, {untouched("a"), untouched("b")});

  CHECK(open.stage.step(9) == Step::read);
  CHECK(open.stage.step(9) == Step::read);
  CHECK(open.stage.step(9) == Step::ended);
  CHECK(open.stage.step(9) == Step::ended);
  const auto saved = open.saved();
  CHECK(saved[0].ended);
  CHECK(saved[1].ended);
}

TEST_CASE("a subtask without a partition has ended from the start", "[runtime][reading]") {
  Script script;
  OpenStage open(script, {});

  CHECK(open.stage.step(9) == Step::ended);
  open.stage.advance();
  CHECK(open.collected.watermarks == std::vector<EventTime>{EventTime::max()});
  CHECK(open.saved().empty());
}

TEST_CASE("a source's watermark is that of its slowest partition, sent when it has risen",
          "[runtime][reading]") {
  Script script{{{"a", {100, 200}}, {"b", {50, 300}}}, {}, {}};
  OpenStage open(script, {untouched("a"), untouched("b")}, Duration{10});
  const auto sent = [&] {
    open.stage.advance();
    return std::exchange(open.collected.watermarks, {});
  };

  CHECK(sent().empty());
  open.stage.step(1);     // a: 100
  CHECK(sent().empty());  // Nothing is known of b.
  open.stage.step(1);     // b: 50
  CHECK(sent() == std::vector<EventTime>{{39}});
  CHECK(sent().empty());
  open.stage.step(1);  // b: 300
  CHECK(sent() == std::vector<EventTime>{{89}});
  open.stage.step(1);  // a: 200
  CHECK(sent() == std::vector<EventTime>{{189}});
  open.stage.step(1);  // a ends, b ends.
  CHECK(sent() == std::vector<EventTime>{EventTime::max()});
  CHECK(sent().empty());
}

TEST_CASE("a source saves how far it is and goes on from there", "[runtime][reading]") {
  const Script whole{{{"a", {10, -1, 20, 40}}, {"b", {5, -1, -1, 30, 35}}}, {}, {}};
  // Stopped after every number of steps, the rest is read once and nothing twice.
  for (int stop = 0; stop <= 8; ++stop) {
    CAPTURE(stop);
    Script first_script = whole;
    OpenStage first(first_script, {untouched("a"), untouched("b")}, Duration{2});
    for (int i = 0; i < stop; ++i) first.stage.step(1);
    first.stage.advance();

    Script second_script = whole;
    OpenStage second(second_script, first.saved(), Duration{2});
    CHECK(second.saved() == first.saved());
    CHECK(second.stage.records_read() == first.stage.records_read());
    second.stage.advance();
    CHECK(second.collected.watermarks == (first.collected.watermarks.empty()
                                              ? std::vector<EventTime>{}
                                              : std::vector{first.collected.watermarks.back()}));
    while (second.stage.step(1) == Step::read) {
    }

    Times all = first.collected.times;
    all.insert(all.end(), second.collected.times.begin(), second.collected.times.end());
    std::sort(all.begin(), all.end());
    CHECK(all == Times{5, 10, 20, 30, 35, 40});
    const auto saved = second.saved();
    CHECK(saved[0].records == 3);
    CHECK(saved[0].skipped == 1);
    CHECK(saved[1].records == 3);
    CHECK(saved[1].skipped == 2);
    CHECK(saved[1].newest == EventTime{35});
  }
}

TEST_CASE("a partition that had ended is not read again", "[runtime][reading]") {
  Script script{{{"a", {10}}}, {}, {}};
  PartitionProgress progress = untouched("a");
  progress.position = {1, 2};
  progress.newest = {10};
  progress.ended = true;
  progress.records = 1;
  OpenStage open(script, {progress});

  CHECK(open.stage.step(9) == Step::ended);
  CHECK(script.asked.empty());
  CHECK(open.saved() == std::vector<PartitionProgress>{progress});
}

TEST_CASE("bytes behind the end that genesis fixed are not read", "[runtime][reading]") {
  Script script{{{"a", {10, 20}}}, {}, {}};
  OpenStage open(script, {});
  Restored restored;
  restored.partitions.push_back({untouched("a"), 1});
  open.stage.restore(restored);

  CHECK(open.stage.step(9) == Step::read);
  CHECK(open.stage.step(9) == Step::ended);
  CHECK(open.collected.times == Times{10});
}

TEST_CASE("every stage behind a source gets its rows, watermarks and flushes",
          "[runtime][reading]") {
  Script script{{{"a", {10, 20}}}, {}, {}};
  OpenStage open(script, {untouched("a")});
  Collecting other;
  open.stage.link({}, other);

  open.stage.step(9);
  open.stage.advance();
  open.stage.flush();

  CHECK(other.times == Times{10, 20});
  CHECK(other.times == open.collected.times);
  CHECK(other.watermarks == open.collected.watermarks);
  CHECK(other.flushed == 1);
  CHECK(open.stage.records_read() == 2);  // Each record once, however many take it.
}

TEST_CASE("nothing is sent to a source", "[runtime][reading]") {
  Script script;
  OpenStage open(script, {});

  CHECK(broken_invariant([&] { open.stage.watermark({1}); }) == "nothing is sent to a source");
}

TEST_CASE("a partition that is waited for too long is idle, and holds the watermark back no more",
          "[runtime][reading_stage]") {
  using namespace std::chrono_literals;
  Script script;
  script.times = {{"a", {10, 20, 30, 40}}, {"b", {5, 6, 7}}};
  script.available = {{"a", 2}, {"b", 1}};
  OpenStage open(script, {untouched("a"), untouched("b")},
                 SourceTime<Event>{{}, nullptr, std::chrono::nanoseconds(1s)});
  while (open.stage.step(10) == Step::read) open.stage.advance();
  CHECK(open.collected.watermarks == std::vector<EventTime>{{4}});

  CHECK(open.stage.patience() == 1s + 1ns);
  open.stage.waited(1s);
  open.stage.advance();
  CHECK(open.collected.watermarks.size() == 1);

  // Something comes on `a` alone, so that only `b` falls idle.
  script.available["a"] = 3;
  CHECK(open.stage.step(10) == Step::read);
  CHECK(open.stage.step(10) == Step::idle);
  CHECK(open.stage.patience() == 1ns);
  open.stage.waited(1ns);
  open.stage.advance();
  CHECK(open.collected.watermarks.back() == EventTime{29});
  CHECK(open.collected.idle.empty());

  // Then all are. Nothing is told twice.
  open.stage.waited(2s);
  open.stage.waited(2s);
  CHECK(open.collected.idle == std::vector<bool>{true});

  // What comes now wakes it; it is behind, and takes nothing back.
  script.available["b"] = 2;
  CHECK(open.stage.step(10) == Step::read);
  open.stage.advance();
  CHECK(open.collected.idle == std::vector<bool>{true, false});
  CHECK(open.collected.watermarks.back() == EventTime{29});
}

namespace {

/// Time has come as far as the newest record whose time is a multiple of ten says.
struct Tens {
  struct State {
    EventTime said;
  };
  void observe(State& s, const Event&, EventTime time) const {
    if (time.ms % 10 == 0) s.said = std::max(s.said, time);
  }
  EventTime watermark(const State& s) const { return s.said; }
};

SourceTime<Event> tens() {
  SourceTime<Event> time;
  time.generator = []() -> std::unique_ptr<PartitionWatermark<Event>> {
    const auto time_of = [](const Event& event) { return EventTime{event.time}; };
    return std::make_unique<GeneratedWatermark<Event, decltype(time_of), Tens>>(time_of, Tens{});
  };
  return time;
}

}  // namespace

TEST_CASE("a generator of one's own makes the watermark, per partition, through a checkpoint",
          "[runtime][reading_stage]") {
  Script script;
  script.times = {{"a", {3, 10, 17, 25, 30}}, {"b", {41, 42, 43, 44}}};
  OpenStage before(script, {untouched("a"), untouched("b")}, tens());
  for (int i = 0; i < 4; ++i) CHECK(before.stage.step(1) == Step::read);
  before.stage.advance();
  CHECK(before.collected.watermarks.empty());  // `b` has said nothing yet.

  const auto saved = before.saved();
  CHECK(saved[0].source == "source");
  CHECK(saved[0].generator.size() == sizeof(std::int64_t));

  OpenStage after(script, saved, tens());
  while (after.stage.step(1) == Step::read) after.stage.advance();
  after.stage.advance();
  // `b` never said anything, and what `a` said before the checkpoint still holds.
  CHECK(after.collected.watermarks.front() == EventTime{10});
  CHECK(after.collected.watermarks.back() == EventTime::max());
}
