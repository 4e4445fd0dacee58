#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "millrace/env/bytes.hpp"
#include "millrace/runtime/coordinator/head.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/coordinator/pending_checkpoint.hpp"
#include "millrace/runtime/sink/sink_recovery.hpp"

#include "rules.hpp"
#include "world.hpp"

namespace millrace::model {

/// A set of names, a bit each.
using NameSet = std::uint64_t;
constexpr NameSet only(NameNumber name) { return NameSet{1} << name; }

/// What a staged object holds: one record, by its number.
constexpr Edition edition_of_record(int record) { return static_cast<Edition>(record + 1); }
constexpr int record_in(Edition edition) { return edition - 1; }
/// What a state object holds: that so many records have been read.
constexpr Edition edition_of_state(int records) { return static_cast<Edition>(records + 1); }

/// An object that a manifest relies on.
struct Needed {
  NameNumber name = 0;
  Edition edition = 0;  ///< What it must hold.
  CheckpointId id;
  int writer = 0;
};

struct KnownManifest {
  Manifest value;
  std::uint64_t checksum = 0;
  NameNumber name = 0;
  Edition edition = 0;
  std::vector<Needed> states;
  std::vector<Needed> staged;
  std::array<int, most_writers> records{};  ///< How many of each writer's records it covers.
};

struct KnownHead {
  Head value;
  HeadNumber parent = 0;  ///< What its writer knew when it made this one.
  std::uint8_t expected = 0;
  std::uint8_t sender = 0;
  ManifestNumber manifest = 0;
};

/// What the product decides about a sink that a takeover found.
struct SinkAnswer {
  enum class Kind : std::uint8_t { publish, refuse, superseded };
  Kind kind = Kind::publish;
  std::vector<Needed> objects;  ///< To publish.
  std::string refusal;
};

/// The product's own values behind the numbers in a World, and the product's pure decisions about
/// them. Each question is put to the product once, and its answer remembered: the same facts come
/// up in very many states.
///
/// Numbers are given in the order in which values first appear, so an exploration gives the same
/// ones every time.
class Catalogue {
 public:
  Catalogue(const Rules& rules, const Bounds& bounds);

  // Values.

  const KnownManifest& manifest(ManifestNumber number) const { return manifests_[number]; }
  const KnownHead& head(HeadNumber number) const { return heads_[number]; }
  const Acknowledgement& acknowledgement(AckNumber number) const { return acks_[number]; }
  const std::string& name(NameNumber number) const { return names_[number]; }
  NameSet all_names() const { return (NameSet{1} << names_.size()) - 1; }

  ManifestNumber genesis(int coordinator);
  /// The head that `sender` makes of the one that it knows.
  HeadNumber next_head(HeadNumber known, int sender, int expected_version, Term term,
                       ManifestNumber manifest);
  NameNumber name_of_state(CheckpointId id, int writer);
  NameNumber name_of_staged(CheckpointId id, int writer);
  /// What `writer` says after barrier `id`, having read `records` in all. `listed`: the checkpoints
  /// of the same term whose rows it does not know to be published, a bit each.
  AckNumber acknowledgement(CheckpointId id, int writer, int records, std::uint8_t listed);

  /// Whether `ancestor` is `head`, or what it was made of, directly or not.
  bool descends(HeadNumber head, HeadNumber ancestor) const;
  /// The manifest of a checkpoint that was decided on the way to `head`; 0: it was not.
  ManifestNumber decided_on_the_way(HeadNumber head, CheckpointId id) const;

  // The product's decisions.

  AckOutcome acknowledge(CheckpointId pending, const std::array<AckNumber, most_writers>& accepted,
                         AckNumber ack);
  bool is_complete(CheckpointId pending, const std::array<AckNumber, most_writers>& accepted);
  ManifestNumber manifest_after(ManifestNumber previous, CheckpointId pending,
                                const std::array<AckNumber, most_writers>& accepted);
  NameSet superseded(ManifestNumber older, ManifestNumber newer, CheckpointId published);
  bool is_swept(NameNumber name, Term term, ManifestNumber restored);
  const SinkAnswer& recovery(ManifestNumber restored, const Fenced& fenced, NameSet missing);
  /// The objects of a manifest above a checkpoint, as the product sorts them.
  const std::vector<Needed>& above(ManifestNumber manifest, CheckpointId id);

 private:
  PendingCheckpoint pending_with(CheckpointId pending,
                                 const std::array<AckNumber, most_writers>& accepted) const;
  Acknowledgement as_heard(AckNumber ack, CheckpointId pending) const;
  ManifestNumber intern(const Manifest& value);
  std::vector<Needed> needed(ManifestNumber manifest, const std::vector<StagedObject>& objects);
  NameNumber intern_name(const std::string& name);
  NameSet names_in(const std::vector<std::string>& names);

  Rules rules_;
  Bounds bounds_;
  std::vector<std::string> names_;
  std::map<std::string, NameNumber> name_numbers_;
  std::vector<KnownManifest> manifests_;
  std::map<Bytes, ManifestNumber> manifest_numbers_;
  std::vector<Edition> editions_;  ///< By name: how many manifests there are for it.
  std::vector<KnownHead> heads_;
  std::map<std::array<std::uint64_t, 5>, HeadNumber> head_numbers_;
  std::vector<Acknowledgement> acks_;
  std::map<std::array<std::uint64_t, 5>, AckNumber> ack_numbers_;

  using Question = std::array<std::uint64_t, 3>;
  std::map<Question, AckOutcome> acknowledged_;
  std::map<Question, ManifestNumber> manifests_after_;
  std::map<Question, NameSet> superseded_;
  std::map<Question, bool> swept_;
  std::map<Question, std::vector<Needed>> above_;
  std::map<Question, SinkAnswer> recoveries_;
};

}  // namespace millrace::model
