#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "millrace/env/identity.hpp"

namespace millrace::model {

// One state of everything: the register, the store, the sink's database, what is on its way, and
// what everybody believes. Numbers only, without padding, so that equal states have equal bytes.
// Values that need more (names, manifests, heads, acknowledgements) are in the Catalogue, and
// stand here by their number there; 0 is none.

inline constexpr int most_coordinators = 3;
inline constexpr int most_writers = 2;
inline constexpr int most_checkpoints = 2;  ///< Of one term.
inline constexpr int most_reigns = 4;
inline constexpr int most_names = 40;
inline constexpr int most_late_swaps = most_coordinators;  ///< One of each (Steps::send_late).
inline constexpr int most_records = 8;                     ///< Of one writer.

using HeadNumber = std::uint16_t;
using ManifestNumber = std::uint16_t;
using AckNumber = std::uint16_t;
using NameNumber = std::uint8_t;
/// What an object holds, among all that may stand under its name.
using Edition = std::uint8_t;

struct SmallId {
  std::uint8_t term = 0;
  std::uint8_t n = 0;
  CheckpointId wide() const { return {{term}, n}; }
  static SmallId of(CheckpointId id) {
    return {static_cast<std::uint8_t>(id.term.number), static_cast<std::uint8_t>(id.n)};
  }
};

/// What a coordinator is about to do next.
enum class Phase : std::uint8_t {
  unborn,
  watching,          ///< Reads the head, when it pleases.
  storing,           ///< Waits for a manifest to be durable; then it swaps.
  swapping,          ///< Its swap has no answer yet.
  reading_refusal,   ///< Its swap was refused; it looks by whom.
  loading,           ///< Has won a term; reads the manifest.
  recovering,        ///< Waits for its committer.
  leading,           ///< No checkpoint is pending.
  collecting,        ///< Waits for acknowledgements.
  confirming,        ///< Something is wrong for good; it looks whether it still owns the job.
  ended_in_refusal,  ///< It did, and has told the user that the job cannot go on.
  dead,
};

struct Coordinator {
  Phase phase = Phase::unborn;
  std::uint8_t reign = 0;  ///< 1 + its index, while it leads one.
  std::uint8_t known_version = 0;
  std::uint8_t has_won_known = 0;  ///< What it knows it wrote: it believes to own the job.
  HeadNumber known = 0;
  HeadNumber target = 0;                   ///< What it swaps, or will once the manifest is durable.
  ManifestNumber manifest_on_its_way = 0;  ///< A write that has not arrived.
  std::array<AckNumber, most_writers> accepted{};  ///< For the pending checkpoint.
};

enum class CommitterPhase : std::uint8_t {
  ordered,    ///< To bring the sink back.
  fenced,     ///< Has the marker.
  decided,    ///< Has found what it is to publish.
  recovered,  ///< Publishes what it is ordered to.
  refused,    ///< Found what no recovery repairs.
  failed,     ///< Was turned away, or could not read what it should publish.
};

struct Writer {
  std::uint8_t handled = 0;      ///< The barriers, a bit each.
  std::uint8_t unpublished = 0;  ///< Of those, what it does not know to be published.
  std::array<AckNumber, most_checkpoints> acknowledged{};  ///< Sent once, heard at any time.
};

/// One ownership of the job with its tasks, which may be zombies: nobody ever makes them stop.
struct Reign {
  std::uint8_t term = 0;   ///< 0: there was none.
  std::uint8_t owner = 0;  ///< Who won it.
  CommitterPhase committer = CommitterPhase::ordered;
  std::uint8_t triggered = 0;  ///< The newest checkpoint that was asked for.
  ManifestNumber restored = 0;
  SmallId marker_when_fenced;
  std::array<ManifestNumber, most_checkpoints> decided{};  ///< What the committer is to publish.
  std::uint8_t published = 0;        ///< The newest that the committer knows to be published.
  std::uint8_t heard_published = 0;  ///< ... that the coordinator has heard of.
  std::uint8_t owes_sweep = 0;       ///< Of what older terms left.
  std::uint8_t is_led = 0;           ///< Its owner still leads it.
  std::array<Writer, most_writers> writers{};
};

/// The sink's table and its marker.
struct Sink {
  std::uint8_t lineage = 0;  ///< 0: there is no marker.
  std::uint8_t fence_term = 0;
  SmallId published;
  std::array<std::uint16_t, most_writers>
      rows{};  ///< Of each record how often it is there: 2 bits.
};

struct World {
  HeadNumber head = 0;  ///< What the register holds.
  std::uint16_t version = 0;
  std::array<HeadNumber, most_late_swaps> late_swaps{};  ///< Descending.
  std::array<Coordinator, most_coordinators> coordinators{};
  std::array<Reign, most_reigns> reigns{};
  std::array<Edition, most_names> store{};  ///< By name; 0: no such object.
  Sink sink;
};

static_assert(std::has_unique_object_representations_v<World>);

/// How often a row is visible; 3 means three times or more.
inline int times_visible(const Sink& sink, int writer, int record) {
  return sink.rows[static_cast<std::size_t>(writer)] >> (2 * record) & 3;
}

}  // namespace millrace::model
