#include "stored_job.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/files/directory_store.hpp"
#include "millrace/posix/posix_disk.hpp"
#include "millrace/posix/process.hpp"
#include "millrace/runtime/job/node.hpp"
#include "millrace/runtime/state/object_names.hpp"
#include "millrace/sqlite/sqlite_tables.hpp"

namespace millrace::tool {
namespace {

Refused unreadable(const std::string& what) { return {Refusal::state_unreadable, what}; }

VersionedHead read_head(DirectoryStore& store) {
  const Versioned found = store.read_register(object_names::head, Instant::never());
  VersionedHead head{found.version, std::nullopt};
  if (found.version != 0) head.head = decode_head(found.bytes);
  return head;
}

StoredJob stored_job(const Head& head, const std::optional<Bytes>& bytes) {
  if (!bytes) {
    throw unreadable(fmt::format("{}: the head names it, and it is not there", head.manifest));
  }
  if (checksum(*bytes) != head.manifest_checksum) {
    throw unreadable(fmt::format("{}: it is not what the head says it is", head.manifest));
  }
  return {head, decode_manifest(*bytes, head.manifest), bytes->size()};
}

}  // namespace

std::map<std::string, StoredJob::Operator> StoredJob::operators() const {
  std::map<std::string, Operator> found;
  for (const StateObject& object : manifest.states) {
    for (const StateSection& section : object.sections) {
      found[section.operator_name].state_bytes += section.size_bytes;
    }
  }
  for (const StagedObject& object : manifest.staged) {
    found[object.sink].staged_rows += object.rows;
    found[object.sink].staged_bytes += object.size_bytes;
  }
  return found;
}

std::uint64_t StoredJob::size_bytes() const {
  std::uint64_t size = manifest_bytes;
  for (const auto& [name, one] : operators()) size += one.state_bytes + one.staged_bytes;
  return size;
}

std::optional<StoredJob> read_stored_job(const std::string& state_directory) {
  posix::PosixDisk disk;
  DirectoryStore store(disk, state_directory, "reader");
  try {
    VersionedHead head = read_head(store);
    while (head.head) {
      const auto bytes = read_whole(store, head.head->manifest, Instant::never());
      // Whoever runs the job sweeps what it has gone beyond: only what the head still names counts.
      VersionedHead now = read_head(store);
      if (now.version == head.version) return stored_job(*head.head, bytes);
      head = std::move(now);
    }
    return std::nullopt;
  } catch (const CorruptObject& corrupt) {
    throw unreadable(corrupt.what());
  }
}

StoredJob expect_stored_job(const RealJob& real) {
  if (auto stored = read_stored_job(real.state_directory)) return *std::move(stored);
  throw UsageError(fmt::format(
      "{}: there is no state of job `{}`; it was never run, or with another `checkpoint.directory`",
      real.state_directory, real.name));
}

std::optional<std::string> owner_of(const std::string& state_directory) {
  const std::string lock = state_directory + "/owner.lock";
  if (!posix::is_locked(lock)) return std::nullopt;
  return posix::lock_owner(lock).value_or("another process");
}

JobFacts facts_of(const RealJob& real) {
  JobFacts facts{real.job.fingerprint(), {}};
  SqliteTables tables;
  posix::Process process({}, tables);
  process.run("tool", "tool", [&](Env& env) {
    for (const Node* node : real.job.nodes()) {
      if (node->role != Node::Role::source) continue;
      const auto partitions = node->partitions != nullptr
                                  ? node->partitions(env)
                                  : env.log.partitions(node->address, Instant::never());
      for (const PartitionFacts& partition : partitions) {
        facts.partitions.push_back({node->name, partition});
      }
    }
  });
  return facts;
}

}  // namespace millrace::tool
