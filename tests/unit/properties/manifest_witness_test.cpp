#include "manifest_witness.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "millrace/env/envelope.hpp"
#include "millrace/env/error.hpp"
#include "millrace/runtime/coordinator/head.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

ManifestPartition partition(const std::string& name, std::int64_t offset, bool ended) {
  ManifestPartition made;
  made.facts = {name, 5000, 99};
  made.progress.source = "source";
  made.progress.name = name;
  made.progress.position = {offset, 48};
  made.progress.newest = {1'600'000'000'000};
  made.progress.ended = ended;
  made.progress.records = 47;
  made.progress.skipped = 1;
  made.progress.generator = {std::byte{1}, std::byte{2}};
  return made;
}

Manifest manifest_of(CheckpointId id) {
  Manifest manifest;
  manifest.lineage = {0x0123456789ABCDEF, 0xFEDCBA9876543210};
  manifest.id = id;
  manifest.fingerprint = {{"source.files", "*.jsonl"}, {"window.tumbling", ""}};
  manifest.key_groups = 128;
  manifest.parallelism = 2;
  manifest.partitions = {partition("a.jsonl", 4711, true), partition("b.jsonl", 0, false),
                         partition("", 5'000'000'000, false)};
  manifest.watermarks = {{"window", {1'599'999'999'999}}};
  StateObject state;
  state.name = "state/7.42-window.1";
  state.sections.resize(2);
  manifest.states = {state};
  manifest.records_late = 12;
  manifest.staged = {{"sink", id, 0, "staged/7.42-sink.0", 10, 400}};
  manifest.kind = CheckpointKind::stop;
  manifest.request = 3;
  manifest.kept = {{{{7}, 40}, CheckpointKind::periodic, 0, "manifest/7.40", 5, {}, 0},
                   {{{7}, 41},
                    CheckpointKind::savepoint,
                    2,
                    "manifest/7.41",
                    6,
                    {"state/7.41-window.0", "state/7.41-window.1"},
                    900}};
  return manifest;
}

/// The file in which a directory store keeps a head.
Bytes register_file(CheckpointId id, JobStatus status) {
  Head head;
  head.term = {9};
  head.status = status;
  head.lineage = {0x0123456789ABCDEF, 0xFEDCBA9876543210};
  head.checkpoint = id;
  head.manifest = "manifest/7.42";
  Encoder file;
  file.number(std::uint64_t{12});  // The version.
  const Bytes written = encode_head(head);
  file.raw(written.data(), written.size());
  return seal(Content::register_file, 1, file.view());
}

}  // namespace

TEST_CASE("the judges read out of a manifest what the processor wrote", "[properties][witness]") {
  const CheckpointId id{{7}, 42};
  const Bytes bytes = encode_manifest(manifest_of(id));

  const Witness witness = read_witness(bytes);

  CHECK(witness.lineage == Lineage{0x0123456789ABCDEF, 0xFEDCBA9876543210});
  CHECK(witness.id == id);
  REQUIRE(witness.claims.size() == 3);
  CHECK(witness.claims[0].partition == "a.jsonl");
  CHECK(witness.claims[0].offset == 4711);
  CHECK(witness.claims[0].ended);
  CHECK(witness.claims[1].partition == "b.jsonl");
  CHECK(witness.claims[1].offset == 0);
  CHECK_FALSE(witness.claims[1].ended);
  CHECK(witness.claims[2].partition.empty());
  CHECK(witness.claims[2].offset == 5'000'000'000);
  CHECK(witness.states == std::vector<std::string>{"state/7.42-window.1"});
  CHECK(witness.staged == std::vector<std::string>{"staged/7.42-sink.0"});
  CHECK(witness.records_late == 12);
  CHECK(witness.kept == std::vector<std::string>{"manifest/7.40", "manifest/7.41",
                                                 "state/7.41-window.0", "state/7.41-window.1"});
}

TEST_CASE("a manifest of a job that has read nothing claims nothing", "[properties][witness]") {
  const Witness witness = read_witness(encode_manifest(Manifest{}));

  CHECK(witness.id == CheckpointId::genesis());
  CHECK(witness.claims.empty());
}

TEST_CASE("a manifest that is not whole is corrupt", "[properties][witness]") {
  const Bytes whole = encode_manifest(manifest_of({{7}, 42}));

  CHECK(read_witness(whole).claims.size() == 3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(read_witness(std::span(whole).first(size)), CorruptObject);
  }
}

TEST_CASE("the judges read out of the register which checkpoint is decided",
          "[properties][witness]") {
  for (const CheckpointId id :
       {CheckpointId::genesis(), CheckpointId{{1}, 1}, CheckpointId{{300}, 70'000}}) {
    for (const JobStatus status : {JobStatus::running, JobStatus::finished, JobStatus::stopped}) {
      CHECK(read_decided(register_file(id, status)) == id);
    }
  }
}

TEST_CASE("a register that is not whole, or was changed, decides nothing",
          "[properties][witness]") {
  const Bytes whole = register_file({{7}, 42}, JobStatus::running);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(read_decided(std::span(whole).first(size)).has_value());
  }
  for (std::size_t at = 16; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= std::byte{1};
    CHECK_FALSE(read_decided(changed).has_value());
  }
}
