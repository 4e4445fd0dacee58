#include "millrace/runtime/coordinator/sweeper.hpp"

#include <catch2/catch.hpp>

#include "millrace/runtime/state/object_names.hpp"

using namespace millrace;

namespace {

using Names = std::set<std::string>;
using List = std::vector<std::string>;

StagedObject staged(CheckpointId id) {
  StagedObject object;
  object.sink = "sink";
  object.id = id;
  object.name = object_names::staged(id, "sink", 0);
  return object;
}

Manifest manifest(CheckpointId id, std::vector<CheckpointId> unpublished) {
  Manifest made;
  made.id = id;
  made.lineage = {1, 2};
  StateObject state;
  state.name = object_names::state(id, "window.0");
  made.states = {state};
  for (const CheckpointId of : unpublished) made.staged.push_back(staged(of));
  return made;
}

constexpr CheckpointId one{{1}, 1};
constexpr CheckpointId two{{1}, 2};
constexpr CheckpointId three{{1}, 3};

}  // namespace

TEST_CASE("names of objects are what they have always been", "[runtime][object_names]") {
  const CheckpointId id{{12}, 345};
  CHECK(object_names::head == "head");
  CHECK(object_names::manifest(id) == "manifest/12.345");
  CHECK(object_names::genesis({0xAB, 0xCD}) == "manifest/0.0-00000000000000ab00000000000000cd");
  CHECK(object_names::state(id, "window.1") == "state/12.345-window.1");
  CHECK(object_names::staged(id, "sink", 7) == "staged/12.345-sink.7");
  CHECK(object_names::heartbeat({12}) == "heartbeat/12");
}

TEST_CASE("every name but the head's tells the term of its writer", "[runtime][object_names]") {
  const CheckpointId id{{12}, 345};
  CHECK(object_names::term_of(object_names::manifest(id)) == Term{12});
  CHECK(object_names::term_of(object_names::state(id, "window.1")) == Term{12});
  CHECK(object_names::term_of(object_names::staged(id, "sink", 7)) == Term{12});
  CHECK(object_names::term_of(object_names::heartbeat({12})) == Term{12});
  for (const auto name : {"head", "", "manifest/", "manifest/x", "owner.lock", "state/-1.2-a",
                          "state/99999999999999999999.1-a"}) {
    CAPTURE(name);
    CHECK_FALSE(object_names::term_of(name).has_value());
  }
}

TEST_CASE("every name with a term lies where a sweep looks", "[runtime][object_names]") {
  const CheckpointId id{{12}, 345};
  for (const std::string& name :
       {object_names::manifest(id), object_names::genesis({}), object_names::state(id, "window.1"),
        object_names::staged(id, "sink", 7), object_names::heartbeat({12})}) {
    bool is_swept = false;
    for (const auto prefix : object_names::swept_prefixes) {
      is_swept = is_swept || name.starts_with(prefix);
    }
    CHECK(is_swept);
  }
}

TEST_CASE("a manifest reaches itself, its states and what it lists as staged",
          "[runtime][sweeper]") {
  CHECK(reached_by(manifest(two, {one, two})) ==
        Names{"manifest/1.2", "state/1.2-window.0", "staged/1.1-sink.0", "staged/1.2-sink.0"});
  Manifest genesis;
  genesis.lineage = {0xAB, 0xCD};
  CHECK(reached_by(genesis) == Names{object_names::genesis({0xAB, 0xCD})});
}

TEST_CASE("a completed checkpoint supersedes what only its predecessor reaches",
          "[runtime][sweeper]") {
  // 1.1 is visible and so no longer listed by 1.2.
  CHECK(superseded_names(manifest(one, {one}), manifest(two, {two}), one) ==
        List{"manifest/1.1", "staged/1.1-sink.0", "state/1.1-window.0"});
}

TEST_CASE("rows that are not known to be visible are kept", "[runtime][sweeper]") {
  CHECK(superseded_names(manifest(two, {one, two}), manifest(three, {one, two, three}), {}) ==
        List{"manifest/1.2", "state/1.2-window.0"});
}

TEST_CASE("rows that became visible go although the newest manifest lists them",
          "[runtime][sweeper]") {
  const Manifest older = manifest(two, {one, two});
  const Manifest newer = manifest(three, {one, two, three});
  const auto staged_in = [&](CheckpointId published) {
    List rows;
    for (const auto& name : superseded_names(older, newer, published)) {
      if (name.starts_with("staged/")) rows.push_back(name);
    }
    return rows;
  };

  CHECK(staged_in(CheckpointId::genesis()).empty());
  CHECK(staged_in(one) == List{"staged/1.1-sink.0"});
  CHECK(staged_in(two) == List{"staged/1.1-sink.0", "staged/1.2-sink.0"});
  CHECK(staged_in(three) == List{"staged/1.1-sink.0", "staged/1.2-sink.0", "staged/1.3-sink.0"});
}

TEST_CASE("an object that both checkpoints refer to is kept", "[runtime][sweeper]") {
  const Manifest older = manifest(one, {});
  Manifest newer = manifest(two, {});
  newer.states = older.states;

  CHECK(superseded_names(older, newer, one) == List{"manifest/1.1"});
}

TEST_CASE("a sweep removes what older terms left and the restored manifest does not reach",
          "[runtime][sweeper]") {
  const Names reached{"state/4.1-window.0"};

  CHECK(is_garbage("state/4.2-window.0", {5}, reached));
  CHECK_FALSE(is_garbage("state/4.1-window.0", {5}, reached));  // Reached.
  CHECK_FALSE(is_garbage("state/5.1-window.0", {5}, reached));  // Its own.
  CHECK_FALSE(is_garbage("state/6.1-window.0", {5}, reached));  // A successor's.
  CHECK(is_garbage("heartbeat/4", {5}, reached));
  CHECK_FALSE(is_garbage("heartbeat/5", {5}, reached));
  CHECK(is_garbage("manifest/10.1", {11}, reached));  // Numbers, not texts.
  CHECK_FALSE(is_garbage("manifest/10.1", {9}, reached));
}

TEST_CASE("a sweep leaves alone what is none of ours", "[runtime][sweeper]") {
  for (const auto name : {"head", "state/notes.txt", "owner.lock"}) {
    CHECK_FALSE(is_garbage(name, {5}, {}));
  }
}
