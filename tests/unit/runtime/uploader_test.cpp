#include "millrace/runtime/worker/uploader.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "fake_world.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

CheckpointId id(std::uint64_t n) { return {{3}, n}; }

StagedObject staged(std::uint64_t n) {
  return {"sink", id(n), 0, "staged/" + to_text(id(n)), 1, 1};
}

/// What a task hands over that writes a sink and keeps state: at checkpoint `n` it has staged rows
/// at all checkpoints from `first` on.
std::unique_ptr<Snapshot> snapshot(std::uint64_t n, std::uint64_t first = 1) {
  auto made = std::make_unique<Snapshot>();
  made->acknowledgement.id = id(n);
  made->acknowledgement.task = "window.0";
  for (std::uint64_t i = first; i <= n; ++i) made->acknowledgement.staged.push_back(staged(i));
  made->rows.push_back({staged(n), Bytes(1, std::byte{7})});
  made->parts.push_back({"window", "panes", "int64", std::make_unique<FrozenBytes>(Bytes(3))});
  return made;
}

std::string state_of(std::uint64_t n) { return "state/" + to_text(id(n)) + "-window.0"; }

struct Uploading {
  FakeWorld world;
  std::chrono::nanoseconds patience = 10s;
  std::vector<std::string> puts;  ///< Every name that was tried, in order.
  std::vector<ControlMessage> told;

  /// Answers every put, by name: nothing is success.
  void answer(std::function<std::optional<PutOutcome>(std::string_view)> by_name) {
    world.store.before_put = [this, by_name = std::move(by_name)](std::string_view name) {
      puts.emplace_back(name);
      return by_name(name);
    };
  }

  void upload(std::vector<std::unique_ptr<Snapshot>> list) {
    Env env = world.env("window.0.upload");
    Snapshots snapshots(upload_room);
    for (auto& one : list) REQUIRE(snapshots.try_put(one));
    try {
      run_uploader(env, snapshots, patience,
                   [this](ControlMessage message) { told.push_back(std::move(message)); });
    } catch (const EndlessWait&) {
      // It waits for the next snapshot.
    }
  }

  void upload(std::uint64_t first, std::uint64_t last) {
    std::vector<std::unique_ptr<Snapshot>> list;
    for (std::uint64_t n = first; n <= last; ++n) list.push_back(snapshot(n, first));
    upload(std::move(list));
  }

  /// The answer to a snapshot, by its place.
  const Declined& declined(std::size_t i) const { return std::get<Declined>(told.at(i)); }
  const Acknowledgement& acknowledged(std::size_t i) const {
    return std::get<Acknowledged>(told.at(i)).acknowledgement;
  }

  /// Of all that an acknowledgement names, what is not in the store.
  std::vector<std::string> dangling(const Acknowledgement& acknowledgement) const {
    std::vector<std::string> names;
    for (const StagedObject& object : acknowledgement.staged) names.push_back(object.name);
    if (acknowledgement.state) names.push_back(acknowledgement.state->name);
    std::erase_if(names,
                  [this](const std::string& name) { return world.store.objects.contains(name); });
    return names;
  }
};

}  // namespace

TEST_CASE("what is acknowledged is in the store: rows first, then state", "[runtime][uploader]") {
  Uploading uploading;
  uploading.answer([](std::string_view) { return std::nullopt; });

  uploading.upload(1, 2);

  REQUIRE(uploading.told.size() == 2);
  CHECK(uploading.acknowledged(0).id == id(1));
  CHECK(uploading.acknowledged(1).id == id(2));
  CHECK(uploading.acknowledged(1).state->name == state_of(2));
  CHECK(uploading.dangling(uploading.acknowledged(1)).empty());
  CHECK(uploading.puts ==
        std::vector<std::string>{staged(1).name, state_of(1), staged(2).name, state_of(2)});
}

TEST_CASE("a checkpoint whose state the store fails is declined, and the next is taken",
          "[runtime][uploader]") {
  Uploading uploading;
  uploading.answer([](std::string_view name) -> std::optional<PutOutcome> {
    if (name == state_of(1)) throw NoSpace("no room for it");
    return std::nullopt;
  });

  uploading.upload(1, 2);

  REQUIRE(uploading.told.size() == 2);
  CHECK(uploading.declined(0).id == id(1));
  CHECK(uploading.declined(0).task == "window.0");
  CHECK(uploading.declined(0).text == "no room for it");
  CHECK(uploading.acknowledged(1).id == id(2));
  CHECK(uploading.dangling(uploading.acknowledged(1)).empty());
}

TEST_CASE("rows of a checkpoint that was declined are stored before anything of the next",
          "[runtime][uploader]") {
  Uploading uploading;
  int failures = 2;
  uploading.answer([&](std::string_view name) -> std::optional<PutOutcome> {
    if (name == staged(1).name && failures-- > 0) throw IoError("the disk failed");
    return std::nullopt;
  });

  uploading.upload(1, 3);

  REQUIRE(uploading.told.size() == 3);
  CHECK(uploading.declined(0).id == id(1));
  CHECK(uploading.declined(1).id == id(2));
  CHECK(uploading.acknowledged(2).id == id(3));
  CHECK(uploading.acknowledged(2).staged.size() == 3);
  CHECK(uploading.dangling(uploading.acknowledged(2)).empty());
  CHECK(uploading.puts == std::vector<std::string>{staged(1).name, staged(1).name, staged(1).name,
                                                   staged(2).name, staged(3).name, state_of(3)});
}

TEST_CASE("rows that were stored are not owed again", "[runtime][uploader]") {
  Uploading uploading;
  uploading.answer([](std::string_view name) -> std::optional<PutOutcome> {
    if (name == state_of(1)) throw IoError("the disk failed");
    return std::nullopt;
  });

  uploading.upload(1, 2);

  CHECK(std::count(uploading.puts.begin(), uploading.puts.end(), staged(1).name) == 1);
}

TEST_CASE("a store that does not answer is asked until the patience ends", "[runtime][uploader]") {
  for (const auto& [answers_after, is_taken] :
       std::vector<std::pair<std::chrono::nanoseconds, bool>>{
           {950ms, true}, {1000ms, true}, {1050ms, false}}) {
    CAPTURE(answers_after.count());
    Uploading uploading;
    uploading.patience = 1s;
    const Instant answers = uploading.world.clock.now() + answers_after;
    bool lost = false;
    uploading.answer([&](std::string_view name) -> std::optional<PutOutcome> {
      if (name != state_of(1) || uploading.world.clock.now() >= answers) return std::nullopt;
      if (std::exchange(lost, !lost)) throw Unavailable("no answer");
      return PutOutcome::unknown;
    });

    uploading.upload(1, 1);

    REQUIRE(uploading.told.size() == 1);
    CHECK(std::holds_alternative<Acknowledged>(uploading.told[0]) == is_taken);
    if (!is_taken) {
      CHECK(uploading.declined(0).text == state_of(1) + ": the checkpoint store does not take it");
    }
  }
}

TEST_CASE("what is no fault of the store ends the uploader", "[runtime][uploader]") {
  Uploading uploading;
  uploading.answer([](std::string_view) -> std::optional<PutOutcome> {
    throw CorruptObject("not what was written");
  });

  CHECK_THROWS_AS(uploading.upload(1, 1), CorruptObject);
  CHECK(uploading.told.empty());
}
