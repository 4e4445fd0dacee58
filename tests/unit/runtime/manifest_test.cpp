#include "millrace/runtime/coordinator/manifest.hpp"

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/state/object_names.hpp"

#include "damage.hpp"
#include "draws.hpp"
#include "samples.hpp"

using namespace millrace;

namespace {

constexpr std::uint16_t version = 4;

void read_back(std::span<const std::byte> bytes) { decode_manifest(bytes, "manifest/7.42"); }

}  // namespace

TEST_CASE("a manifest survives being written down and read back", "[runtime][manifest]") {
  const Manifest manifest = sample_manifest();
  CHECK(decode_manifest(encode_manifest(manifest), "manifest/7.42") == manifest);
  CHECK(decode_manifest(encode_manifest(Manifest{}), "manifest/0.0") == Manifest{});
}

// Who changes these bytes changes the format's version, and MANIFEST.md.
TEST_CASE("the bytes of a manifest are what they have always been", "[runtime][manifest]") {
  CHECK(encode_manifest(Manifest{}).size() == 105);
  CHECK(checksum(encode_manifest(sample_manifest())) == 0x059BCF116168BC1EU);
}

TEST_CASE("a manifest with any byte changed, or cut short, is refused", "[runtime][manifest]") {
  const Bytes bytes = encode_manifest(sample_manifest());

  CHECK(find_unnoticed_change(bytes, read_back) == std::nullopt);
  CHECK(find_unnoticed_cut(bytes, read_back) == std::nullopt);
}

TEST_CASE("a manifest that is refused is named", "[runtime][manifest]") {
  const Bytes sealed = encode_manifest(sample_manifest());
  Bytes changed = sealed;
  changed.back() ^= std::byte{1};
  CHECK(message_of<CorruptObject>([&] { read_back(changed); }) ==
        "manifest/7.42: its checksum does not match its bytes");

  // Right by its checksum, and yet no manifest.
  const auto payload = unseal(Content::manifest, version, sealed, "");
  const Bytes shorter = seal(Content::manifest, version, payload.first(payload.size() - 1));
  CHECK(message_of<CorruptObject>([&] { read_back(shorter); }) ==
        "manifest/7.42: the bytes end inside a value");
}

TEST_CASE("a manifest of an older format is refused by name", "[runtime][manifest]") {
  const Bytes sealed = encode_manifest(sample_manifest());
  for (std::uint16_t older = 1; older < version; ++older) {
    const Bytes bytes =
        seal(Content::manifest, older, unseal(Content::manifest, version, sealed, ""));
    CHECK(message_of<CorruptObject>([&] { read_back(bytes); }) ==
          "manifest/7.42: its format has version " + std::to_string(older) +
              "; this program reads version 4");
  }
}

TEST_CASE("a manifest of no kind that there is is refused", "[runtime][manifest]") {
  Manifest manifest;
  for (const int kind : {0, 1, 4, 5, 255}) {
    manifest.kind = static_cast<CheckpointKind>(kind);
    CHECK(is_refused(encode_manifest(manifest), read_back) == (kind < 1 || kind > 4));
  }
}

TEST_CASE("a manifest with a count of more than it holds asks for no memory",
          "[runtime][manifest]") {
  const auto payload_of = [](const Manifest& manifest) {
    const Bytes sealed = encode_manifest(manifest);
    const auto payload = unseal(Content::manifest, version, sealed, "");
    return Bytes(payload.begin(), payload.end());
  };
  Bytes payload = payload_of(Manifest{});
  constexpr std::size_t fingerprints_at = 32;  // Behind lineage and id.
  for (std::size_t i = 0; i < 4; ++i) payload[fingerprints_at + i] = std::byte{0xFF};

  CHECK(is_refused(seal(Content::manifest, version, payload), read_back));
}

TEST_CASE("sealed bytes at random are refused, or are a manifest", "[runtime][manifest]") {
  Draws draws(5);
  const Bytes sealed = encode_manifest(sample_manifest());
  const auto payload = unseal(Content::manifest, version, sealed, "");
  int refused = 0;
  for (int run = 0; run < 5'000; ++run) {
    Bytes changed(payload.begin(), payload.end());
    const auto changes = 1 + draws.below(8);
    for (std::uint64_t i = 0; i < changes; ++i) {
      changed[draws.below(changed.size())] = static_cast<std::byte>(draws.next());
    }
    changed.resize(changed.size() - (draws.one_in(4) ? draws.below(changed.size()) : 0));
    refused += is_refused(seal(Content::manifest, version, changed), read_back) ? 1 : 0;
  }
  CHECK(refused > 1'000);
  CHECK(refused < 5'000);
}

TEST_CASE("genesis is named after its lineage, and every other manifest after its checkpoint",
          "[runtime][manifest]") {
  Manifest manifest = sample_manifest();
  CHECK(name_of(manifest) == "manifest/7.42");
  manifest.id = CheckpointId::genesis();
  CHECK(name_of(manifest) == object_names::genesis(manifest.lineage));
}

TEST_CASE("a job has all its input when every partition has ended", "[runtime][manifest]") {
  Manifest manifest = sample_manifest();
  CHECK(manifest.has_all_input());
  manifest.partitions.push_back(manifest.partitions[0]);
  CHECK(manifest.has_all_input());
  manifest.partitions[0].progress.ended = false;
  CHECK_FALSE(manifest.has_all_input());
}
