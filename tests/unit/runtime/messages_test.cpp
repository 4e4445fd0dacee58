#include "millrace/runtime/control/messages.hpp"

#include <catch2/catch.hpp>

#include "millrace/runtime/state/checkpoint_codec.hpp"

#include "damage.hpp"
#include "draws.hpp"
#include "samples.hpp"

using namespace millrace;

namespace {

Bytes encoded(const ControlMessage& message) {
  Encoder out;
  encode_message(out, message);
  return out.take();
}

/// One message of every kind, in term 7.
std::vector<ControlMessage> all_messages() {
  const Manifest manifest = sample_manifest();
  Failure failure;
  failure.kind = Failure::Kind::refused;
  failure.refusal = Refusal::sink_ahead;
  failure.text = "window.0: it went wrong";
  Acknowledgement acknowledgement;
  acknowledgement.id = {{7}, 42};
  acknowledgement.task = "window.1";
  acknowledgement.partitions = {manifest.partitions[0].progress};
  acknowledgement.watermarks = manifest.watermarks;
  acknowledgement.state = manifest.states[0];
  acknowledgement.staged = manifest.staged;
  acknowledgement.records_late = 3;
  const Bytes bytes = encode_manifest(manifest);
  return {Join{"worker1"},
          TaskRunning{{7}, "window.1"},
          TaskFailed{{7}, "window.1", failure},
          Acknowledged{acknowledgement},
          InputEnded{{7}, "source.0"},
          SinkRecovered{{7}, "sink"},
          SinkPublished{{{7}, 42}, "sink", 13},
          Counters{{7}, 1'000},
          RecoverSink{{7}, "sink", true, bytes},
          Deploy{{7}, 2, {"worker1", "worker2"}, bytes, 10'000'000'000},
          Trigger{{{7}, 42}},
          Abort{{{7}, 42}},
          Publish{{{7}, 42}, "sink", manifest.staged},
          Published{{{7}, 42}},
          Withdraw{{7}},
          Declined{{{7}, 42}, "window.1", "no room"}};
}

/// Whether bytes are refused with CorruptBytes or are a message that says the same when it is
/// written again. Anything else comes out.
enum class Reading { refused, same, different };
Reading try_decode(const Bytes& bytes) {
  try {
    const ControlMessage message = decode_message(bytes);
    const Bytes again = encoded(message);
    // A truth value has one spelling when it is written and many when it is read.
    return encoded(decode_message(again)) == again && again.size() == bytes.size()
               ? Reading::same
               : Reading::different;
  } catch (const CorruptBytes&) {
    return Reading::refused;
  }
}

}  // namespace

TEST_CASE("every kind of control message survives being written and read back",
          "[runtime][messages]") {
  const auto messages = all_messages();
  REQUIRE(messages.size() == std::variant_size_v<ControlMessage>);
  for (std::size_t kind = 0; kind < messages.size(); ++kind) {
    CAPTURE(kind);
    REQUIRE(messages[kind].index() == kind);
    const Bytes bytes = encoded(messages[kind]);
    CHECK(bytes[0] == static_cast<std::byte>(kind));
    const ControlMessage read = decode_message(bytes);
    CHECK(read.index() == kind);
    CHECK(encoded(read) == bytes);
  }
}

TEST_CASE("what a message is about survives the way", "[runtime][messages]") {
  const auto messages = all_messages();
  const auto read = [](const ControlMessage& message) { return decode_message(encoded(message)); };

  const auto acknowledged = std::get<Acknowledged>(read(messages[3]));
  CHECK(acknowledged.acknowledgement == std::get<Acknowledged>(messages[3]).acknowledgement);
  const auto failed = std::get<TaskFailed>(read(messages[2]));
  CHECK(failed.failure == std::get<TaskFailed>(messages[2]).failure);
  CHECK(failed.task == "window.1");
  const auto deploy = std::get<Deploy>(read(messages[9]));
  CHECK(deploy.parallelism == 2);
  CHECK(deploy.workers == std::vector<std::string>{"worker1", "worker2"});
  CHECK(decode_manifest(deploy.manifest, "x") == sample_manifest());
  CHECK(deploy.upload_patience_ns == 10'000'000'000);
  const auto publish = std::get<Publish>(read(messages[12]));
  CHECK(publish.staged == sample_manifest().staged);
  const auto recover = std::get<RecoverSink>(read(messages[8]));
  CHECK(recover.adopt);
  const auto declined = std::get<Declined>(read(messages[15]));
  CHECK(declined.id == CheckpointId{{7}, 42});
  CHECK(declined.task == "window.1");
  CHECK(declined.text == "no room");
}

TEST_CASE("every message but the first tells its speaker's term", "[runtime][messages]") {
  for (const ControlMessage& message : all_messages()) {
    CAPTURE(message.index());
    CHECK(term_of(message) == (std::holds_alternative<Join>(message) ? Term{} : Term{7}));
  }
}

TEST_CASE("a message that was cut short or added to is refused", "[runtime][messages]") {
  const auto decode = [](std::span<const std::byte> bytes) { decode_message(bytes); };
  for (const ControlMessage& message : all_messages()) {
    CAPTURE(message.index());
    Bytes bytes = encoded(message);
    CHECK(find_unnoticed_cut(bytes, decode) == std::nullopt);
    bytes.push_back(std::byte{0});
    CHECK(is_refused(bytes, decode));
  }
}

TEST_CASE("a message of an unknown kind is refused", "[runtime][messages]") {
  for (int kind = 0; kind < 256; ++kind) {
    Bytes bytes(200);
    bytes[0] = static_cast<std::byte>(kind);
    if (kind >= static_cast<int>(std::variant_size_v<ControlMessage>)) {
      CHECK_THROWS_AS(decode_message(bytes), CorruptBytes);
    }
  }
}

TEST_CASE("bytes at random are refused, or are a message", "[runtime][messages]") {
  Draws draws(11);
  int refused = 0;
  int same = 0;
  for (int run = 0; run < 30'000; ++run) {
    Bytes bytes(draws.below(120));
    // Small numbers are more often lengths that fit.
    const bool is_small = draws.one_in(2);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(is_small ? draws.below(4) : draws.below(256));
    }
    if (!bytes.empty()) bytes[0] = static_cast<std::byte>(draws.below(16));
    const Reading reading = try_decode(bytes);
    REQUIRE(reading != Reading::different);
    refused += reading == Reading::refused ? 1 : 0;
    same += reading == Reading::same ? 1 : 0;
  }
  CHECK(refused > 10'000);
  CHECK(same > 50);
}

TEST_CASE("messages with bytes changed at random are refused, or are a message",
          "[runtime][messages]") {
  Draws draws(12);
  const auto messages = all_messages();
  int refused = 0;
  for (int run = 0; run < 10'000; ++run) {
    Bytes bytes = encoded(messages[draws.below(messages.size())]);
    const auto changes = 1 + draws.below(6);
    for (std::uint64_t i = 0; i < changes; ++i) {
      bytes[draws.below(bytes.size())] = static_cast<std::byte>(draws.next());
    }
    const Reading reading = try_decode(bytes);
    REQUIRE(reading != Reading::different);
    refused += reading == Reading::refused ? 1 : 0;
  }
  CHECK(refused > 1'000);
  CHECK(refused < 10'000);
}

TEST_CASE("a failure of a kind, or with a refusal, that there is not is refused",
          "[runtime][messages]") {
  Failure failure;
  failure.text = "x";
  Bytes bytes = encoded(TaskFailed{{7}, "t", failure});
  const std::size_t kind_at = 1 + 8 + 4 + 1;
  REQUIRE(bytes[kind_at] == static_cast<std::byte>(Failure::Kind::world));
  for (const int kind : {0, 6, 255}) {
    Bytes changed = bytes;
    changed[kind_at] = static_cast<std::byte>(kind);
    CAPTURE(kind);
    CHECK_THROWS_AS(decode_message(changed), CorruptBytes);
  }
  for (const int refusal : {static_cast<int>(Refusal::staged_rows_missing) + 1, 255}) {
    Bytes changed = bytes;
    changed[kind_at + 1] = static_cast<std::byte>(refusal);
    CAPTURE(refusal);
    CHECK_THROWS_AS(decode_message(changed), CorruptBytes);
  }
}
