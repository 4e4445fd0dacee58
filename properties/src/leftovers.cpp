#include "leftovers.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace millrace::properties {
namespace {

constexpr std::size_t most_named = 3;

/// Whose an object is: every name but the head's is `kind/TERM...`.
std::optional<std::uint64_t> term_in(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::uint64_t term = 0;
  const auto [end, error] =
      std::from_chars(name.data() + slash + 1, name.data() + name.size(), term);
  return error == std::errc{} ? std::optional(term) : std::nullopt;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void LeftoversJudge::took_over(Term term, CheckpointId restored, std::set<std::string> names) {
  if (term < term_) return;  // It finds out late that it had, and is a zombie already.
  term_ = term;
  restored_ = restored;
  is_swept_ = false;
  after_last_sweep_.reset();
  names_at_takeover_ = std::move(names);
}

bool LeftoversJudge::is_state_of(CheckpointId id, const std::string& name) const {
  const auto manifest = manifests_.find(id);
  return manifest != manifests_.end() && holds(manifest->second.states, name);
}

bool LeftoversJudge::is_staged_by(CheckpointId id, const std::string& name) const {
  const auto manifest = manifests_.find(id);
  return manifest != manifests_.end() && holds(manifest->second.staged, name);
}

bool LeftoversJudge::is_kept_by(CheckpointId id, const std::string& name) const {
  const auto manifest = manifests_.find(id);
  return manifest != manifests_.end() && holds(manifest->second.kept, name);
}

void LeftoversJudge::swept(Term term, const std::set<std::string>& names) {
  if (term.number == term_.number + 1) after_last_sweep_ = names;
  if (term != term_) return;
  is_swept_ = true;
  for (const std::string& name : names_at_takeover_) {
    const auto writer = term_in(name);
    if (after_sweep_ || !names.contains(name) || !writer || *writer >= term_.number) continue;
    // A zombie writes its heartbeat again, and what the manifest reaches is needed. Of several
    // geneses the name does not say which one it was.
    if (name.starts_with("heartbeat/") || name == "manifest/" + to_text(restored_) ||
        (restored_ == CheckpointId::genesis() && name.starts_with("manifest/0.0-")) ||
        is_state_of(restored_, name) || is_staged_by(restored_, name) ||
        is_kept_by(restored_, name)) {
      continue;
    }
    after_sweep_ = Breach{"leftovers", fmt::format("term {} has swept the store, which still holds "
                                                   "{}, and nothing that it restored reaches that",
                                                   term.number, name)};
  }
}

void LeftoversJudge::saw(const std::set<std::string>& names) {
  // What is there again was written again: a heartbeat, or what a zombie repeats.
  std::erase_if(names_at_takeover_, [&](const std::string& name) { return !names.contains(name); });
}

bool LeftoversJudge::belongs(const std::string& name, CheckpointId last) const {
  if (name == "head" || name == "manifest/" + to_text(last)) return true;
  if (name == fmt::format("heartbeat/{}", term_.number)) return true;
  if (is_state_of(last, name) || is_kept_by(last, name)) return true;
  const auto writer = term_in(name);
  return writer && *writer < term_.number && !names_at_takeover_.contains(name);
}

std::optional<Breach> LeftoversJudge::judge(CheckpointId last,
                                            const std::set<std::string>& names) const {
  if (after_sweep_) return after_sweep_;
  if (!is_swept_) {
    return Breach{
        "leftovers",
        fmt::format("the job is finished, and term {} has never swept the store", term_.number)};
  }
  if (!after_last_sweep_) {
    return Breach{
        "leftovers",
        fmt::format("the job is finished, and term {} has not swept at its end", term_.number)};
  }
  std::vector<std::string> left;
  for (const std::string& name : names) {
    if (after_last_sweep_->contains(name) && !belongs(name, last)) left.push_back(name);
  }
  if (const auto newest = manifests_.find(last); newest != manifests_.end()) {
    for (const std::string& name : newest->second.kept) {
      // Of the end itself nobody may have told: who finished the job may have died of it.
      if (after_last_sweep_->contains(name)) continue;
      return Breach{"leftovers",
                    fmt::format("the job is finished at checkpoint {}, which keeps {}, "
                                "and the store does not hold that any more",
                                to_text(last), name)};
    }
  }
  if (left.empty() && tasks_.empty()) return std::nullopt;
  if (left.empty()) {
    return Breach{"leftovers", fmt::format("the job is finished, and tasks of it still run: {}",
                                           fmt::join(tasks_, ", "))};
  }
  const std::size_t count = left.size();
  left.resize(std::min(count, most_named));
  return Breach{"leftovers",
                fmt::format("the job is finished at checkpoint {} in term {}, and the store still "
                            "holds {} objects that nobody needs: {}{}",
                            to_text(last), term_.number, count, fmt::join(left, ", "),
                            count > most_named ? " and more" : "")};
}

}  // namespace millrace::properties
