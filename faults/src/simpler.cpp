#include "millrace/faults/simpler.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace millrace::faults {
namespace {

using namespace std::chrono_literals;

/// Shorter than anything that is waited for: there is no point in looking below it.
constexpr std::chrono::nanoseconds shortest_span = 1ms;

/// Anchors that ask for less: no conditions at all, one condition fewer, lower numbers.
class SimplerAnchors {
 public:
  explicit SimplerAnchors(const Anchor& anchor) : anchor_(anchor) {}

  std::vector<Anchor> list() {
    Anchor bare;
    bare.landmark = anchor_.landmark;
    add(bare);
    bare.nth = anchor_.nth;
    add(bare);
    drop(&Anchor::role);
    drop(&Anchor::life);
    drop(&Anchor::retry);
    drop(&Anchor::subtask);
    drop(&Anchor::n);
    drop(&Anchor::term);
    for (const std::uint64_t nth : lower_than(anchor_.nth, 1)) {
      Anchor simpler = anchor_;
      simpler.nth = nth;
      add(simpler);
    }
    lower(&Anchor::n);
    lower(&Anchor::term);
    return std::move(list_);
  }

 private:
  void add(const Anchor& simpler) {
    const bool is_there = std::find(list_.begin(), list_.end(), simpler) != list_.end();
    if (simpler != anchor_ && !is_there) list_.push_back(simpler);
  }
  template <class Condition>
  void drop(Condition Anchor::*condition) {
    Anchor simpler = anchor_;
    simpler.*condition = Condition{};
    add(simpler);
  }
  void lower(std::optional<std::uint64_t> Anchor::*number) {
    if (!(anchor_.*number)) return;
    for (const std::uint64_t less : lower_than(*(anchor_.*number), 1)) {
      Anchor simpler = anchor_;
      simpler.*number = less;
      add(simpler);
    }
  }

  const Anchor& anchor_;
  std::vector<Anchor> list_;
};

std::vector<Moment> simpler_moments(const Moment& moment) {
  std::vector<Moment> moments;
  if (const auto* anchor = std::get_if<Anchor>(&moment)) {
    for (const Anchor& simpler : SimplerAnchors(*anchor).list()) moments.emplace_back(simpler);
  } else if (const auto* instant = std::get_if<Instant>(&moment)) {
    for (const auto earlier : shorter_than(std::chrono::nanoseconds(instant->ns))) {
      moments.emplace_back(Instant{earlier.count()});
    }
  }
  return moments;
}

template <class F>
void add_simpler(const F& fault, std::vector<Fault>& list) {
  // A process that dies takes less with it than a machine.
  if constexpr (std::is_same_v<F, PowerLoss>) {
    list.emplace_back(Kill{fault.node, fault.at, fault.down});
  }
  for (const Moment& moment : simpler_moments(fault.at)) {
    F simpler = fault;
    simpler.at = moment;
    list.emplace_back(simpler);
  }
  const auto shorten = [&](std::chrono::nanoseconds F::*span) {
    for (const auto shorter : shorter_than(fault.*span)) {
      F simpler = fault;
      simpler.*span = shorter;
      list.emplace_back(simpler);
    }
  };
  if constexpr (requires { fault.down; }) shorten(&F::down);
  if constexpr (requires { fault.lasts; }) shorten(&F::lasts);
}

}  // namespace

std::vector<std::uint64_t> lower_than(std::uint64_t number, std::uint64_t least) {
  if (number <= least) return {};
  std::vector<std::uint64_t> numbers{least};
  if (const std::uint64_t half = least + (number - least) / 2; half != numbers.back()) {
    numbers.push_back(half);
  }
  if (number - 1 != numbers.back()) numbers.push_back(number - 1);
  return numbers;
}

std::vector<std::chrono::nanoseconds> shorter_than(std::chrono::nanoseconds span) {
  std::vector<std::chrono::nanoseconds> spans;
  auto decade = shortest_span;
  while (decade < span) {
    spans.push_back(decade);
    if (decade > span / 10) break;
    decade *= 10;
  }
  if (spans.empty()) return spans;
  // What is left lies between the last of them and ten times as much.
  const auto last = spans.back();
  if (5 * last < span) {
    spans.push_back(5 * last);
  } else if (2 * last < span) {
    spans.push_back(2 * last);
  }
  return spans;
}

std::vector<Fault> simpler_than(const Fault& fault) {
  std::vector<Fault> list;
  std::visit([&](const auto& one) { add_simpler(one, list); }, fault);
  return list;
}

}  // namespace millrace::faults
