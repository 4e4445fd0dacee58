#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/env/workers.hpp"
#include "millrace/properties/experiment.hpp"
#include "millrace/properties/outcome.hpp"

namespace millrace::properties {

struct CampaignOptions {
  std::uint64_t seeds = 0;  ///< How many runs; their seeds follow from the campaign's.
  std::uint64_t campaign_seed = 1;
  std::optional<std::uint64_t> only_seed;  ///< One run, of this very seed.
  int jobs = 1;                            ///< Worker processes.
  bool check_determinism = false;          ///< Every case runs again in another process.
};

/// What the runs of a campaign are about: for every seed a job and its input, made ready.
using SubjectOf = std::function<std::shared_ptr<const Subject>(std::uint64_t seed)>;

/// A run that did not hold.
struct Finding {
  std::uint64_t seed = 0;
  Outcome outcome;
};

/// Counts of small numbers, for medians.
class Tally {
 public:
  void add(std::uint64_t number, std::uint64_t times = 1) { counts_[number] += times; }
  void add(const Tally& other);
  /// The middle one; 0 of nothing.
  std::uint64_t median() const;
  const std::map<std::uint64_t, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<std::uint64_t, std::uint64_t> counts_;
};

/// What a campaign has found out.
struct CampaignReport {
  std::uint64_t runs = 0;
  std::array<std::uint64_t, 9> verdicts{};      ///< By Verdict.
  std::map<std::string, std::uint64_t> judges;  ///< Runs that each judge has convicted.
  RowCounts rows;
  Tally checkpoints;
  Tally publishes;
  std::uint64_t unfired = 0;  ///< Faults that never happened.
  std::uint64_t planned = 0;
  RunStatistics totals;           ///< Sums over all runs.
  std::vector<Finding> findings;  ///< Runs that did not hold, by seed; an only seed's always.

  std::uint64_t held() const { return verdicts[static_cast<std::size_t>(Verdict::held)]; }
  /// The verdict of the campaign: the worst that there was (DECISIONS "Cases, seeds, verdicts").
  Verdict verdict() const;
};

/// Runs cases in worker processes. `progress` is called several times a second with what is known;
/// false ends the campaign.
///
/// A process that dies is a verdict about the run that it was at, and another takes its place.
CampaignReport run_campaign(const SubjectOf& subject_of, const CampaignOptions& options,
                            Workers& workers,
                            const std::function<bool(const CampaignReport&)>& progress);
/// All of them about the same job.
CampaignReport run_campaign(const Subject& subject, const CampaignOptions& options,
                            Workers& workers,
                            const std::function<bool(const CampaignReport&)>& progress);

}  // namespace millrace::properties
