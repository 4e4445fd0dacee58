#include "user_code_judge.hpp"

#include <fmt/format.h>

#include "millrace/env/hash.hpp"

namespace millrace::properties {
namespace {

/// `per_auction` of `per_auction.1`.
std::string_view operator_of(std::string_view role) { return role.substr(0, role.rfind('.')); }

}  // namespace

void UserCodeJudge::executed(std::string_view role, const Effect& effect) {
  if (effect.key.empty()) {
    ++effects_[{std::string(operator_of(role)), std::string(effect.service),
                std::string(effect.request), effect.cause}];
    return;
  }
  const auto [known, is_new] =
      requests_.try_emplace({std::string(effect.service), std::string(effect.key)}, effect.request);
  if (is_new || known->second == effect.request || keys_) return;
  keys_ = Breach{"effects", fmt::format("`{}` asked `{}` under the key `{}` for `{}`, and before "
                                        "for `{}`",
                                        operator_of(role), effect.service, effect.key,
                                        effect.request, known->second)};
}

void UserCodeJudge::ran(std::string_view role, const FunctionRun& run) {
  const std::string_view name = operator_of(role);
  const auto [known, is_new] = results_.try_emplace(mix64(checksum(name) ^ run.given), run.result);
  if (is_new || known->second == run.result || functions_) return;
  functions_ = Breach{"functions",
                      fmt::format("`{}` made two things of one record, with equal state: what it "
                                  "does depends on something else",
                                  name)};
}

std::vector<Breach> UserCodeJudge::judge(const EffectCounts& calm) const {
  std::vector<Breach> breaches;
  if (functions_) breaches.push_back(*functions_);
  if (keys_) breaches.push_back(*keys_);
  for (const auto& [effect, times] : effects_) {
    const auto due = calm.find(effect);
    const std::uint64_t expected = due == calm.end() ? 0 : due->second;
    if (times <= expected) continue;
    breaches.push_back(
        {"effects", fmt::format("`{}` asked `{}` for `{}` {} times instead of {}, without a key "
                                "by which it would be done once",
                                effect.by, effect.service, effect.request, times, expected)});
    break;
  }
  return breaches;
}

}  // namespace millrace::properties
