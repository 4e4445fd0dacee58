#include "millrace/properties/input.hpp"

#include <algorithm>

namespace millrace::properties {
namespace {

constexpr Site burst_size{"arrivals.burst"};
constexpr Site pause_before{"arrivals.pause"};
constexpr Site is_quiet{"arrivals.is_quiet"};
constexpr Site how_much_faster{"arrivals.how_much_faster"};

/// Behind the line that begins at `begin`.
std::size_t end_of_line(const std::string& text, std::size_t begin) {
  const auto newline = text.find('\n', begin);
  return newline == std::string::npos ? text.size() : newline + 1;
}

std::uint64_t count_lines(const std::string& text) {
  std::uint64_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at = end_of_line(text, at)) ++lines;
  return lines;
}

/// The first `lines` lines.
std::string cut(const std::string& text, std::uint64_t lines) {
  std::size_t end = 0;
  while (lines-- > 0 && end < text.size()) end = end_of_line(text, end);
  return text.substr(0, end);
}

}  // namespace

std::uint64_t Input::lines() const {
  std::uint64_t lines = 0;
  for (const InputPartition& partition : partitions) lines += count_lines(partition.text);
  return lines;
}

std::string partition_name(const JobSpec& spec, const std::string& source,
                           const std::string& partition) {
  return spec.sources.size() > 1 ? source + "/" + partition : partition;
}

bool is_of_source(const JobSpec& spec, const std::string& source, const std::string& name) {
  return name.starts_with(partition_name(spec, source, ""));
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
  const auto whole = static_cast<std::uint64_t>(span.count());
  std::uint64_t most_lines = 1;
  for (const InputPartition& partition : input.partitions) {
    most_lines = std::max(most_lines, count_lines(partition.text));
  }
  sim::Arrivals arrivals;
  for (const InputPartition& partition : input.partitions) {
    if (partition.text.empty()) continue;
    // Bursts with pauses between them, in units of which only the proportion counts.
    struct Burst {
      std::uint64_t at;
      std::size_t offset;
    };
    std::vector<Burst> bursts;
    std::uint64_t now = 0;
    std::uint64_t lines = 0;
    for (std::size_t offset = 0; offset < partition.text.size();) {
      now += 10 + draws.below(pause_before, 90);
      if (draws.hits(is_quiet, {1, 16})) now += 400;
      const std::uint64_t size = 1 + draws.below(burst_size, 15);
      for (std::uint64_t i = 0; i < size && offset < partition.text.size(); ++i) {
        offset = end_of_line(partition.text, offset);
        ++lines;
      }
      bursts.push_back({now, offset});
    }
    // A record takes its partition as long as any other, so short partitions end early and do not
    // hold the watermark back; some are up to twice as fast as they need be.
    const auto due = static_cast<std::uint64_t>(static_cast<Uint128>(whole) * lines / most_lines);
    const std::uint64_t length = due - draws.below(how_much_faster, due / 2 + 1);
    std::vector<sim::Arrivals::Step> steps;
    for (const Burst& burst : bursts) {
      const auto at = static_cast<Uint128>(length) * burst.at / now;
      steps.push_back(
          {Instant{static_cast<std::int64_t>(at)}, static_cast<std::int64_t>(burst.offset)});
    }
    arrivals.set(partition.name, std::move(steps));
  }
  return arrivals;
}

}  // namespace millrace::properties
