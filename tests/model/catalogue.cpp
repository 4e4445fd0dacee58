#include "catalogue.hpp"

#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "millrace/env/hash.hpp"
#include "millrace/env/invariant.hpp"
#include "millrace/runtime/coordinator/sweeper.hpp"
#include "millrace/runtime/coordinator/takeover.hpp"
#include "millrace/runtime/state/object_names.hpp"

namespace millrace::model {
namespace {

constexpr const char* source_name = "source";
constexpr const char* sink_name = "sink";

std::string task_name(int writer) { return fmt::format("{}.{}", sink_name, writer); }
std::string partition_name(int writer) { return fmt::format("input.{}", writer); }

std::uint64_t packed(CheckpointId id) { return id.term.number << 8 | id.n; }

std::uint64_t packed(const std::array<AckNumber, most_writers>& acks) {
  std::uint64_t both = 0;
  for (const AckNumber ack : acks) both = both << 16 | ack;
  return both;
}

/// `staged/2.1/sink.0` as it would be if numbers of checkpoints began anew in each term and names
/// did not tell the term.
std::string without_term(const std::string& name) {
  const auto slash = name.find('/');
  const auto dot = name.find('.', slash);
  return name.substr(0, slash + 1) + name.substr(dot);
}

template <class Map, class Make>
const auto& remembered(Map& answers, const typename Map::key_type& question, Make make) {
  const auto known = answers.find(question);
  if (known != answers.end()) return known->second;
  return answers.emplace(question, make()).first->second;
}

}  // namespace

Catalogue::Catalogue(const Rules& rules, const Bounds& bounds)
    : rules_(rules), bounds_(bounds), manifests_(1), heads_(1), acks_(1) {}

ManifestNumber Catalogue::genesis(int coordinator) {
  JobFacts facts;
  for (int writer = 0; writer < bounds_.writers; ++writer) {
    facts.partitions.push_back({source_name, {partition_name(writer), most_records, 0}});
  }
  const Lineage lineage{0, static_cast<std::uint64_t>(coordinator) + 1};
  return intern(make_genesis(lineage, facts, static_cast<std::uint32_t>(bounds_.writers)));
}

HeadNumber Catalogue::next_head(HeadNumber known, int sender, int expected_version, Term term,
                                ManifestNumber manifest) {
  const auto from = static_cast<std::uint64_t>(sender);
  const auto expected = static_cast<std::uint64_t>(expected_version);
  return remembered(head_numbers_, {known, from, expected, term.number, manifest}, [&] {
    const KnownManifest& named = manifests_[manifest];
    Head head;
    head.term = term;
    head.lineage = named.value.lineage;
    head.checkpoint = named.value.id;
    head.manifest = name_of(named.value);
    head.manifest_checksum = named.checksum;
    head.nonce = from * 1000 + expected + 1;  // Nobody swaps twice over one version.
    heads_.push_back({head, known, static_cast<std::uint8_t>(expected_version),
                      static_cast<std::uint8_t>(sender), manifest});
    invariant(heads_.size() < 0x10000, "heads have numbers of 16 bits");
    return static_cast<HeadNumber>(heads_.size() - 1);
  });
}

NameNumber Catalogue::name_of_state(CheckpointId id, int writer) {
  return intern_name(object_names::state(id, task_name(writer)));
}

NameNumber Catalogue::name_of_staged(CheckpointId id, int writer) {
  return intern_name(object_names::staged(id, sink_name, static_cast<std::uint32_t>(writer)));
}

AckNumber Catalogue::acknowledgement(CheckpointId id, int writer, int records,
                                     std::uint8_t listed) {
  const auto subtask = static_cast<std::uint32_t>(writer);
  return remembered(
      ack_numbers_, {packed(id), subtask, static_cast<std::uint64_t>(records), listed, 0}, [&] {
        Acknowledgement ack;
        ack.id = id;
        ack.task = task_name(writer);
        PartitionProgress progress;
        progress.source = source_name;
        progress.name = partition_name(writer);
        progress.position = {records, records + 1};
        progress.records = static_cast<std::uint64_t>(records);
        ack.partitions = {progress};
        ack.state = StateObject{object_names::state(id, ack.task), subtask, {}};
        for (std::uint64_t n = 1; n <= id.n; ++n) {
          if ((listed >> n & 1) == 0) continue;
          const CheckpointId of{id.term, n};
          ack.staged.push_back(
              {sink_name, of, subtask, object_names::staged(of, sink_name, subtask), 1, 1});
        }
        acks_.push_back(ack);
        invariant(acks_.size() < 0x10000, "acknowledgements have numbers of 16 bits");
        return static_cast<AckNumber>(acks_.size() - 1);
      });
}

bool Catalogue::descends(HeadNumber head, HeadNumber ancestor) const {
  while (head != ancestor && head != 0) head = heads_[head].parent;
  return head == ancestor;
}

ManifestNumber Catalogue::decided_on_the_way(HeadNumber head, CheckpointId id) const {
  while (head != 0 && heads_[head].value.checkpoint != id) head = heads_[head].parent;
  return heads_[head].manifest;
}

AckOutcome Catalogue::acknowledge(CheckpointId pending,
                                  const std::array<AckNumber, most_writers>& accepted,
                                  AckNumber ack) {
  return remembered(acknowledged_, {packed(pending), packed(accepted), ack}, [&] {
    return pending_with(pending, accepted).acknowledge(as_heard(ack, pending));
  });
}

bool Catalogue::is_complete(CheckpointId pending,
                            const std::array<AckNumber, most_writers>& accepted) {
  return pending_with(pending, accepted).is_complete();
}

ManifestNumber Catalogue::manifest_after(ManifestNumber previous, CheckpointId pending,
                                         const std::array<AckNumber, most_writers>& accepted) {
  return remembered(manifests_after_, {previous, packed(pending), packed(accepted)}, [&] {
    return intern(pending_with(pending, accepted)
                      .manifest_after(manifests_[previous].value,
                                      static_cast<std::uint32_t>(bounds_.writers)));
  });
}

NameSet Catalogue::superseded(ManifestNumber older, ManifestNumber newer, CheckpointId published) {
  return remembered(superseded_, {older, newer, packed(published)}, [&] {
    return names_in(superseded_names(manifests_[older].value, manifests_[newer].value, published));
  });
}

bool Catalogue::is_swept(NameNumber name, Term term, ManifestNumber restored) {
  return remembered(swept_, {name, term.number, restored}, [&] {
    return is_garbage(names_[name], term, reached_by(manifests_[restored].value));
  });
}

const SinkAnswer& Catalogue::recovery(ManifestNumber restored, const Fenced& fenced,
                                      NameSet missing) {
  const CheckpointId marker = fenced.marker ? fenced.marker->published : CheckpointId::genesis();
  const auto outcome = static_cast<std::uint64_t>(fenced.outcome);
  const auto facts_of_sink = outcome << 48 | std::uint64_t{restored} << 16 | packed(marker);
  return remembered(recoveries_, {facts_of_sink, missing, 0}, [&] {
    const Manifest& manifest = manifests_[restored].value;
    SinkRecoveryFacts facts{manifest.id, manifest.lineage, fenced, manifest.staged, {}};
    for (std::size_t name = 0; name < names_.size(); ++name) {
      if ((missing >> name & 1) != 0) facts.missing.push_back(names_[name]);
    }
    const SinkRecovery decided = decide_sink_recovery(facts);
    SinkAnswer answer;
    if (const auto* publish = std::get_if<PublishListed>(&decided)) {
      answer.objects = needed(restored, publish->objects);
    } else if (const auto* refuse = std::get_if<RefuseSink>(&decided)) {
      answer.kind = SinkAnswer::Kind::refuse;
      answer.refusal = fmt::format("{}: {}", name_of(refuse->why), refuse->what);
    } else {
      answer.kind = SinkAnswer::Kind::superseded;
    }
    return answer;
  });
}

const std::vector<Needed>& Catalogue::above(ManifestNumber manifest, CheckpointId id) {
  return remembered(above_, {manifest, packed(id), 0}, [&] {
    return needed(manifest, millrace::above(id, manifests_[manifest].value.staged));
  });
}

std::vector<Needed> Catalogue::needed(ManifestNumber manifest,
                                      const std::vector<StagedObject>& objects) {
  std::vector<Needed> found;
  for (const StagedObject& object : objects) {
    for (const Needed& staged : manifests_[manifest].staged) {
      if (staged.name == intern_name(object.name)) found.push_back(staged);
    }
  }
  return found;
}

PendingCheckpoint Catalogue::pending_with(
    CheckpointId pending, const std::array<AckNumber, most_writers>& accepted) const {
  std::set<std::string> tasks;
  for (int writer = 0; writer < bounds_.writers; ++writer) tasks.insert(task_name(writer));
  PendingCheckpoint checkpoint(pending, tasks, Instant::never());
  for (const AckNumber ack : accepted) {
    if (ack != 0) checkpoint.acknowledge(as_heard(ack, pending));
  }
  return checkpoint;
}

Acknowledgement Catalogue::as_heard(AckNumber ack, CheckpointId pending) const {
  Acknowledgement heard = acks_[ack];
  // Without a term in the message it can only be about the term of whoever hears it.
  if (!rules_.acknowledgement_has_term) heard.id.term = pending.term;
  return heard;
}

ManifestNumber Catalogue::intern(const Manifest& value) {
  const Bytes bytes = encode_manifest(value);
  return remembered(manifest_numbers_, bytes, [&] {
    KnownManifest known;
    known.value = value;
    known.checksum = checksum(bytes);
    known.name = intern_name(name_of(value));
    known.edition = ++editions_[known.name];
    invariant(known.edition != 0, "editions have numbers of 8 bits");
    for (std::size_t writer = 0; writer < value.partitions.size(); ++writer) {
      known.records.at(writer) = static_cast<int>(value.partitions[writer].progress.records);
    }
    for (const StateObject& state : value.states) {
      known.states.push_back({intern_name(state.name),
                              edition_of_state(known.records.at(state.subtask)), value.id,
                              static_cast<int>(state.subtask)});
    }
    // Each barrier stages one record, and what is not listed any more is older than what is.
    std::array<int, most_writers> record = known.records;
    for (auto staged = value.staged.rbegin(); staged != value.staged.rend(); ++staged) {
      known.staged.push_back({intern_name(staged->name),
                              edition_of_record(--record.at(staged->subtask)), staged->id,
                              static_cast<int>(staged->subtask)});
    }
    manifests_.push_back(std::move(known));
    invariant(manifests_.size() < 0x10000, "manifests have numbers of 16 bits");
    return static_cast<ManifestNumber>(manifests_.size() - 1);
  });
}

NameNumber Catalogue::intern_name(const std::string& name) {
  const std::string stored = rules_.name_has_term ? name : without_term(name);
  return remembered(name_numbers_, stored, [&] {
    names_.push_back(stored);
    editions_.push_back(0);
    invariant(names_.size() <= most_names, "a world has room for every name");
    return static_cast<NameNumber>(names_.size() - 1);
  });
}

NameSet Catalogue::names_in(const std::vector<std::string>& names) {
  NameSet set = 0;
  for (const std::string& name : names) set |= only(intern_name(name));
  return set;
}

}  // namespace millrace::model
