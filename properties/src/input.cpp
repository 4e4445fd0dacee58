#include "millrace/properties/input.hpp"

#include <algorithm>

namespace millrace::properties {
namespace {

constexpr Site burst_size{"arrivals.burst"};
constexpr Site pause_before{"arrivals.pause"};
constexpr Site is_quiet{"arrivals.is_quiet"};
constexpr Site how_long{"arrivals.how_long"};

std::uint64_t count_lines(const std::string& text) {
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (text.empty() || text.back() == '\n' ? 0 : 1);
}

/// The first `lines` lines.
std::string cut(const std::string& text, std::uint64_t lines) {
  std::size_t end = 0;
  while (lines-- > 0 && end < text.size()) {
    const auto newline = text.find('\n', end);
    end = newline == std::string::npos ? text.size() : newline + 1;
  }
  return text.substr(0, end);
}

}  // namespace

std::uint64_t Input::lines() const {
  std::uint64_t lines = 0;
  for (const InputPartition& partition : partitions) lines += count_lines(partition.text);
  return lines;
}

Input head_of(const Input& whole, std::uint64_t lines) {
  const std::uint64_t all = whole.lines();
  if (all <= lines) return whole;
  Input head;
  std::uint64_t seen = 0;
  std::uint64_t given = 0;
  for (const InputPartition& partition : whole.partitions) {
    // The running total is cut, so that rounding does not add up.
    seen += count_lines(partition.text);
    const std::uint64_t due = seen * lines / all;
    head.partitions.push_back({partition.name, cut(partition.text, due - given), partition.origin});
    given = due;
  }
  return head;
}

sim::Arrivals draw_arrivals(const Input& input, std::chrono::nanoseconds span, sim::Draws& draws) {
  sim::Arrivals arrivals;
  for (const InputPartition& partition : input.partitions) {
    if (partition.text.empty()) continue;
    // Bursts with pauses between them, in units of their own; then stretched over the time that the
    // partition takes, which is at least half of the span.
    struct Burst {
      std::uint64_t at;
      std::size_t offset;
    };
    std::vector<Burst> bursts;
    std::uint64_t now = 0;
    std::size_t offset = 0;
    while (offset < partition.text.size()) {
      now += draws.below(pause_before, 100);
      if (draws.hits(is_quiet, {1, 16})) now += 400;
      const std::uint64_t size = 1 + draws.below(burst_size, 15);
      for (std::uint64_t i = 0; i < size && offset < partition.text.size(); ++i) {
        const auto newline = partition.text.find('\n', offset);
        offset = newline == std::string::npos ? partition.text.size() : newline + 1;
      }
      bursts.push_back({now, offset});
    }
    const auto whole = static_cast<std::uint64_t>(span.count());
    const std::uint64_t length = whole - draws.below(how_long, whole / 2 + 1);
    std::vector<sim::Arrivals::Step> steps;
    for (const Burst& burst : bursts) {
      const auto at = static_cast<Uint128>(length) * burst.at / std::max<std::uint64_t>(now, 1);
      steps.push_back(
          {Instant{static_cast<std::int64_t>(at)}, static_cast<std::int64_t>(burst.offset)});
    }
    arrivals.set(partition.name, std::move(steps));
  }
  return arrivals;
}

}  // namespace millrace::properties
