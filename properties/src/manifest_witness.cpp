#include "manifest_witness.hpp"

#include <string>

#include "millrace/env/bytes.hpp"
#include "millrace/env/hash.hpp"

namespace millrace::properties {
namespace {

/// What an envelope holds, if all of it is there: magic, content, version, length, checksum.
std::span<const std::byte> open_envelope(std::span<const std::byte> sealed) {
  Decoder in(sealed);
  in.number<std::uint64_t>();
  const auto length = in.number<std::uint64_t>();
  const auto sum = in.number<std::uint64_t>();
  if (length != in.left()) throw CorruptBytes("an envelope is longer or shorter than it says");
  const auto payload = in.skip(in.left());
  if (checksum(payload) != sum) throw CorruptBytes("an envelope was changed");
  return payload;
}

CheckpointId read_id(Decoder& in) {
  CheckpointId id;
  id.term.number = in.number<std::uint64_t>();
  id.n = in.number<std::uint64_t>();
  return id;
}

}  // namespace

Witness read_witness(std::span<const std::byte> manifest) {
  // MANIFEST.md: lineage, id, fingerprint (key, value), groups, parallelism, partitions (name, end,
  // hash; source, name, offset, line, newest, ended, records, skipped, generator), watermarks
  // (operator, time), states (object, subtask, sections (operator, part, shape, offset, length,
  // hash)), staged (sink, id, subtask, object, rows, bytes), late, kind, request, kept (id, kind,
  // request, manifest, hash, objects (name), bytes).
  Decoder in(open_envelope(manifest));
  Witness witness;
  witness.lineage.high = in.number<std::uint64_t>();
  witness.lineage.low = in.number<std::uint64_t>();
  witness.id = read_id(in);
  for (auto parts = in.count(8); parts > 0; --parts) {
    in.text();
    in.text();
  }
  in.number<std::uint32_t>();
  in.number<std::uint32_t>();
  for (auto partitions = in.count(8); partitions > 0; --partitions) {
    in.text();
    in.number<std::int64_t>();
    in.number<std::uint64_t>();
    Claim claim;
    witness.sources.emplace_back(in.text());
    claim.partition = in.text();
    claim.offset = in.number<std::int64_t>();
    in.number<std::int64_t>();
    in.number<std::int64_t>();
    claim.ended = in.number<std::uint8_t>() != 0;
    in.number<std::uint64_t>();
    in.number<std::uint64_t>();
    for (auto bytes = in.count(1); bytes > 0; --bytes) in.number<std::uint8_t>();
    witness.claims.push_back(std::move(claim));
  }
  for (auto watermarks = in.count(8); watermarks > 0; --watermarks) {
    in.text();
    in.number<std::int64_t>();
  }
  for (auto states = in.count(8); states > 0; --states) {
    witness.states.emplace_back(in.text());
    in.number<std::uint32_t>();
    for (auto sections = in.count(8); sections > 0; --sections) {
      for (int text = 0; text < 3; ++text) in.text();
      for (int number = 0; number < 3; ++number) in.number<std::uint64_t>();
    }
  }
  for (auto staged = in.count(8); staged > 0; --staged) {
    in.text();
    read_id(in);
    in.number<std::uint32_t>();
    witness.staged.emplace_back(in.text());
    in.number<std::uint64_t>();
    in.number<std::uint64_t>();
  }
  witness.records_late = in.number<std::uint64_t>();
  in.number<std::uint8_t>();
  in.number<std::uint64_t>();
  for (auto kept = in.count(8); kept > 0; --kept) {
    read_id(in);
    in.number<std::uint8_t>();
    in.number<std::uint64_t>();
    witness.kept.emplace_back(in.text());
    in.number<std::uint64_t>();
    for (auto objects = in.count(4); objects > 0; --objects) witness.kept.emplace_back(in.text());
    in.number<std::uint64_t>();
  }
  return witness;
}

std::optional<CheckpointId> read_decided(std::span<const std::byte> register_file) {
  try {
    // STORE.md: an envelope around the version; HEAD.md: an envelope around term, status, lineage,
    // and the checkpoint's id.
    Decoder in(open_envelope(open_envelope(register_file).subspan(sizeof(std::uint64_t))));
    in.number<std::uint64_t>();
    in.number<std::uint8_t>();
    in.number<std::uint64_t>();
    in.number<std::uint64_t>();
    return read_id(in);
  } catch (const CorruptObject&) {
    return std::nullopt;
  }
}

}  // namespace millrace::properties
