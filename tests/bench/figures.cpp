#include "figures.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <sys/resource.h>

namespace millrace::bench {
namespace {

std::string shown(double number) {
  return number < 100 ? fmt::format("{:.2f}", number) : fmt::format("{:.0f}", number);
}

std::string shown(const Bound& bound) {
  return fmt::format("{}{} {}", bound.of == Bound::Of::ratio ? "ratio " : "",
                     bound.side == Bound::Side::at_least ? ">=" : "<=", shown(bound.limit));
}

bool is_met(const Figure& figure, const Bound& bound) {
  const bool of_ratio = bound.of == Bound::Of::ratio;
  const double found = of_ratio ? figure.value / figure.floor.value() : figure.value;
  return bound.side == Bound::Side::at_least ? found >= bound.limit : found <= bound.limit;
}

std::string line_of(const Figure& figure) {
  std::string line =
      fmt::format("{:<24} {:>10} {:<10}", figure.name, shown(figure.value), figure.unit);
  if (figure.floor) {
    line += fmt::format("  floor {:>10}  ratio {:<5}", shown(*figure.floor),
                        fmt::format("{:.2f}", figure.value / *figure.floor));
  }
  const auto add = [&](const char* what, const std::optional<Bound>& bound) {
    if (!bound) return;
    line +=
        fmt::format("  {} {}{}", what, shown(*bound), is_met(figure, *bound) ? "" : " (MISSED)");
  };
  add("required", figure.required);
  add("goal", figure.goal);
  return line;
}

std::string json_of(const Figure& figure) {
  std::string json = fmt::format(R"({{"name": "{}", "unit": "{}", "value": {:.6g})", figure.name,
                                 figure.unit, figure.value);
  if (figure.floor) {
    json += fmt::format(R"(, "floor": {:.6g}, "ratio": {:.4g})", *figure.floor,
                        figure.value / *figure.floor);
  }
  const auto add = [&](const char* what, const std::optional<Bound>& bound) {
    if (!bound) return;
    json += fmt::format(R"(, "{0}": "{1}", "{0}_met": {2})", what, shown(*bound),
                        is_met(figure, *bound));
  };
  add("required", figure.required);
  add("goal", figure.goal);
  return json + "}";
}

}  // namespace

Report::Report(int& argc, char** argv) {
  constexpr std::string_view only = "--only=";
  const auto is_ours = [this, only](std::string_view argument) {
    if (argument.starts_with(only)) only_ = argument.substr(only.size());
    as_json_ |= argument == "--json";
    return argument == "--json" || argument.starts_with(only);
  };
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, is_ours) - argv);
}

void Report::add(const Figure& figure) const {
  fmt::print("{}\n", as_json_ ? json_of(figure) : line_of(figure));
  std::fflush(stdout);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of(const std::function<void()>& act) {
  const double begun = processor_seconds();
  act();
  return processor_seconds() - begun;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Pair medians_of(int rounds, const std::function<double()>& value,
                const std::function<double()>& floor) {
  std::vector<double> values;
  std::vector<double> floors;
  for (int i = 0; i < rounds; ++i) {
    floors.push_back(floor());
    values.push_back(value());
  }
  return {median(values), median(floors)};
}

}  // namespace millrace::bench
