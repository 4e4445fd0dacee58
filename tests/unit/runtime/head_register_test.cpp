#include "millrace/runtime/coordinator/head_register.hpp"

#include <deque>

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/coordinator/lease.hpp"
#include "millrace/runtime/state/object_names.hpp"

#include "damage.hpp"
#include "fake_world.hpp"

using namespace millrace;

namespace {

Head some_head() {
  Head head;
  head.term = {1};
  head.manifest = "manifest/0.0";
  return head;
}

/// A store that answers swaps as it is told, and as it should when it is told no more.
struct Answers {
  FakeWorld& world;
  std::deque<SwapOutcome> next;

  void install() {
    world.store.before_swap = [this]() -> std::optional<SwapOutcome> {
      if (next.empty()) return std::nullopt;
      const SwapOutcome outcome = next.front();
      next.pop_front();
      return outcome;
    };
  }
};

}  // namespace

TEST_CASE("a register that was never written has version 0 and no head",
          "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  HeadRegister head(env);

  CHECK(head.read().version == 0);
  CHECK_FALSE(head.known().head.has_value());
}

TEST_CASE("what is swapped in is known, and read by the next", "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  HeadRegister head(env);
  head.read();

  head.swap(some_head());

  CHECK(head.known().version == 1);
  HeadRegister other(env);
  CHECK(other.read().version == 1);
  CHECK(other.known().head == head.known().head);
  CHECK_NOTHROW(head.confirm());
}

TEST_CASE("a swap whose answer is lost is repeated with the same bytes",
          "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  HeadRegister head(env);
  head.read();
  Answers answers{world, {SwapOutcome::unknown, SwapOutcome::unknown}};
  answers.install();

  head.swap(some_head());

  REQUIRE(world.store.swapped.size() == 3);
  CHECK(world.store.swapped[1] == world.store.swapped[0]);
  CHECK(world.store.swapped[2] == world.store.swapped[0]);
  CHECK(world.landmarks.times("head_outcome_unknown") == 2);
  CHECK(world.landmarks.times("head_swapped") == 1);
}

TEST_CASE("a swap that had landed when its answer was lost is won by repeating it",
          "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  HeadRegister head(env);
  head.read();
  bool is_first = true;
  world.store.before_swap = [&]() -> std::optional<SwapOutcome> {
    if (!std::exchange(is_first, false)) return std::nullopt;
    world.store.registers["head"] = {1, world.store.swapped.back()};
    return SwapOutcome::unknown;
  };

  head.swap(some_head());

  CHECK(head.known().version == 1);
  CHECK(world.store.registers.at("head").version == 1);
}

TEST_CASE("a swap over what somebody else wrote loses the job", "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  HeadRegister late(env);
  late.read();
  HeadRegister quick(env);
  quick.read();
  world.chance.script = [](Site, std::uint64_t, std::uint32_t) { return std::uint64_t{5}; };
  quick.swap(some_head());
  world.chance.script = nullptr;

  // The same words with another nonce: they are not its own.
  CHECK_THROWS_AS(late.swap(some_head()), OwnershipLost);
  CHECK_THROWS_AS(late.confirm(), OwnershipLost);
  CHECK_NOTHROW(quick.confirm());
}

TEST_CASE("a head that cannot be read is a named refusal", "[runtime][head_register]") {
  FakeWorld world;
  world.store.registers["head"] = {3, Bytes(40, std::byte{1})};
  Env env = world.env();
  HeadRegister head(env);

  try {
    head.read();
    FAIL("what cannot be read was read");
  } catch (const Refused& refused) {
    CHECK(refused.why() == Refusal::state_unreadable);
    CHECK(std::string(refused.what()).find("head: ") == 0);
  }
}

TEST_CASE("a manifest is loaded only if it is what the head says", "[runtime][head_register]") {
  FakeWorld world;
  Env env = world.env();
  Manifest manifest;
  manifest.id = {{1}, 2};
  const Bytes bytes = encode_manifest(manifest);
  store_manifest(env, manifest, bytes);
  Head head = some_head();
  head.manifest = "manifest/1.2";
  head.manifest_checksum = checksum(bytes);
  const auto refusal = [&] { return message_of<Refused>([&] { load_manifest(env, head); }); };

  CHECK(load_manifest(env, head) == manifest);
  head.manifest_checksum ^= 1;
  CHECK(refusal() == "manifest/1.2: it is not what the head says it is");
  head.manifest = "manifest/1.3";
  CHECK(refusal() == "manifest/1.3: the head names it, and it is not there");
  // Right by the head's checksum, and no manifest.
  world.store.objects["manifest/1.3"] = Bytes(3);
  head.manifest_checksum = checksum(world.store.objects["manifest/1.3"]);
  CHECK(refusal() == "manifest/1.3: 3 bytes are too few for a header of 24");
}

TEST_CASE("a heart that was never heard is at 0, and one that cannot be read is no heart",
          "[runtime][lease]") {
  FakeWorld world;
  Env env = world.env();
  Encoder beat;
  beat.number(std::uint64_t{17});
  const std::string name = object_names::heartbeat({3});

  CHECK(read_heartbeat(env, {3}) == 0);
  world.store.objects[name] = seal(Content::heartbeat, 1, beat.view());
  CHECK(read_heartbeat(env, {3}) == 17);
  CHECK(read_heartbeat(env, {4}) == 0);
  world.store.objects[name].pop_back();
  CHECK_THROWS_AS(read_heartbeat(env, {3}), CorruptObject);
}
