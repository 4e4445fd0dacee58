#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "millrace/properties/outcome.hpp"
#include "millrace/properties/subject.hpp"
#include "millrace/sim/world.hpp"

namespace millrace::properties {

/// Judges what a job's own functions do (DECISIONS "Results").
///
/// `functions`: what a function makes of a record follows from the record, its key's state and the
/// watermark. Equal ones that came to different ends convict it by its operator's name: it reads a
/// clock, draws at random or remembers something outside of its state. What never comes again is
/// not compared.
///
/// `effects`: an effect without a key is done as often as it is done when nothing goes wrong; one
/// key stands for one request. Anything else is done twice by a replay.
class UserCodeJudge final : public sim::UserCodeWatch {
 public:
  void executed(std::string_view role, const Effect& effect) override;
  void ran(std::string_view role, const FunctionRun& run) override;

  /// Whatever there is to say. `calm` is what a run without faults has asked for.
  std::vector<Breach> judge(const EffectCounts& calm) const;
  const EffectCounts& effects() const { return effects_; }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t>
      results_;           ///< By what was given; looked up, never walked.
  EffectCounts effects_;  ///< Without a key.
  std::map<std::pair<std::string, std::string>, std::string> requests_;  ///< By service and key.
  std::optional<Breach> functions_;
  std::optional<Breach> keys_;
};

}  // namespace millrace::properties
