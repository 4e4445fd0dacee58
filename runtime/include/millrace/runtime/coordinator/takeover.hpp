#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "millrace/env/chance.hpp"
#include "millrace/env/error.hpp"
#include "millrace/env/instant.hpp"
#include "millrace/runtime/coordinator/head.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"

namespace millrace {

/// Decides when a candidate may take over (PROTOCOL 1.6): after it saw the head's version and the
/// owner's heartbeat unchanged for a lease, on its own clock. Pure but for what it remembers.
///
/// Only for the sake of peace: whoever takes over too early does no harm, because the register
/// decides.
class Candidacy {
 public:
  explicit Candidacy(std::chrono::nanoseconds lease) : lease_(lease), patience_(lease) {}

  /// What the candidate sees now. Returns whether it may take over.
  bool observe(std::uint64_t head_version, std::uint64_t heartbeat, Instant now);

  /// The candidate was too late. It begins anew, and waits for a lease and `extra`, so that two
  /// candidates do not chase each other.
  void lost(std::chrono::nanoseconds extra);

 private:
  struct Seen {
    std::uint64_t head_version;
    std::uint64_t heartbeat;
    Instant since;
  };
  std::chrono::nanoseconds lease_;
  std::chrono::nanoseconds patience_;
  std::optional<Seen> seen_;
};

/// Begin a job that has no past.
struct BeginAnew {
  Term term;
};
/// Go on from the manifest that the head names.
struct Resume {
  Term term;
};
/// There is nothing to do.
struct NothingLeft {};
using TakeoverPlan = std::variant<BeginAnew, Resume, NothingLeft>;

/// Decides what a takeover is to be. `fresh`: the user wants a new lineage, whatever there was.
/// Pure.
///
/// Terms go on rising even then, because names in the store hold them and must not be used twice.
TakeoverPlan decide_takeover(const std::optional<Head>& head, bool fresh);

/// What a job is now, against what its manifest says it was.
struct JobFacts {
  struct Partition {
    std::string source;  ///< The operator that reads it.
    PartitionFacts facts;
  };
  std::vector<FingerprintPart> fingerprint;
  std::vector<Partition> partitions;
};

/// What keeps a job from going on from a manifest.
struct Mismatch {
  Refusal why;
  std::string what;
};

/// Compares; names the first difference. Partitions may have grown, and there may be new ones: what
/// genesis did not see is not read. Pure.
std::optional<Mismatch> find_mismatch(const Manifest& manifest, const JobFacts& job);

/// The first manifest of a job: nothing read, nothing written.
Manifest make_genesis(Lineage lineage, const JobFacts& job, std::uint32_t parallelism);

}  // namespace millrace
