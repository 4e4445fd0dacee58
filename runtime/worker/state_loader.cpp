#include "millrace/runtime/worker/state_loader.hpp"

#include <utility>

#include <fmt/format.h>

#include "millrace/env/envelope.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {
namespace {

using namespace std::chrono_literals;

constexpr auto call_patience = 5s;

Bytes read_part(Env& env, const std::string& name, std::uint64_t offset, std::uint64_t size) {
  auto bytes = env.store.read(name, offset, size, env.in(call_patience));
  if (!bytes) throw CorruptObject(fmt::format("{}: it is not there", name));
  return std::move(*bytes);
}

RestoredSection load(Env& env, const StateObject& object, const StateSection& section,
                     GroupRange groups) {
  Bytes bytes = read_part(env, object.name, section.offset, section.size_bytes);
  if (bytes.size() != section.size_bytes || checksum(bytes) != section.checksum) {
    throw CorruptObject(fmt::format("{}: the state `{}` of {} is not what was written", object.name,
                                    section.part, section.operator_name));
  }
  return {groups, section.part, section.shape, std::move(bytes)};
}

}  // namespace

std::vector<RestoredSection> load_sections(Env& env, const Manifest& manifest,
                                           std::string_view operator_name, Subtask at) {
  std::vector<RestoredSection> sections;
  const GroupRange mine = groups_of(at.index, at.of);
  for (const StateObject& object : manifest.states) {
    const GroupRange written =
        groups_of(static_cast<int>(object.subtask), static_cast<int>(manifest.parallelism));
    // A section also tells the watermark, which every subtask needs; the cheapest way to have it
    // is to read one's own old section, which always overlaps.
    if (!overlap(mine, written)) continue;
    bool is_ours = false;
    for (const StateSection& section : object.sections) {
      if (section.operator_name != operator_name) continue;
      if (!std::exchange(is_ours, true)) {
        expect_header(Content::state, state_format_version,
                      read_part(env, object.name, 0, envelope_header_bytes), object.name);
      }
      sections.push_back(load(env, object, section, written));
    }
  }
  return sections;
}

std::vector<RestoredPartition> partitions_of(const Manifest& manifest, std::string_view source,
                                             Subtask at) {
  std::vector<RestoredPartition> partitions;
  int number = 0;
  for (const ManifestPartition& partition : manifest.partitions) {
    if (partition.progress.source != source) continue;
    if (number++ % at.of != at.index) continue;
    partitions.push_back({partition.progress, partition.facts.end});
  }
  return partitions;
}

}  // namespace millrace
