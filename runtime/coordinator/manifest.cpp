#include "millrace/runtime/coordinator/manifest.hpp"

#include <algorithm>

#include "millrace/env/envelope.hpp"
#include "millrace/runtime/state/checkpoint_codec.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t format_version = 4;

}  // namespace

bool Manifest::has_all_input() const {
  return std::all_of(partitions.begin(), partitions.end(),
                     [](const ManifestPartition& partition) { return partition.progress.ended; });
}

std::string name_of(const Manifest& manifest) {
  return manifest.id == CheckpointId::genesis() ? object_names::genesis(manifest.lineage)
                                                : object_names::manifest(manifest.id);
}

Bytes encode_manifest(const Manifest& manifest) {
  Encoder out;
  encode(out, manifest);
  return seal(Content::manifest, format_version, out.view());
}

Manifest decode_manifest(std::span<const std::byte> bytes, std::string_view name) {
  return read_sealed(Content::manifest, format_version, bytes, name,
                     [](Decoder& in) { return decoded<Manifest>(in); });
}

}  // namespace millrace
