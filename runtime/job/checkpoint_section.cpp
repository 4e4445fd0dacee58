#include "checkpoint_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/job/names.hpp"

namespace millrace {
namespace {

constexpr std::int64_t most_failures = 1000;
constexpr std::int64_t most_retained = 100;
constexpr std::int64_t most_attempts = 1'000'000;

Duration in_ms(std::chrono::nanoseconds span) { return std::chrono::duration_cast<Duration>(span); }

std::string span_text(std::chrono::nanoseconds span) { return toml_quoted(describe(in_ms(span))); }

Duration span_above_zero(TomlSection& section, const char* key, std::chrono::nanoseconds fallback) {
  const Duration span = section.duration_or(key, in_ms(fallback));
  if (span == Duration::zero()) {
    section.fail_key(key, fmt::format("{} is 0; a span above 0 is expected", section.path_of(key)));
  }
  return span;
}

std::uint32_t count(TomlSection& section, const char* key, std::uint32_t fallback,
                    std::int64_t most, std::int64_t least = 0) {
  return static_cast<std::uint32_t>(section.integer_or(key, fallback, least, most));
}

RestartOptions::Strategy read_strategy(TomlSection& restart) {
  const std::string name = restart.text_or("strategy", "exponential");
  if (name == "exponential") return RestartOptions::Strategy::exponential;
  if (name == "fixed") return RestartOptions::Strategy::fixed;
  restart.fail_key("strategy", fmt::format("{} is \"{}\"; \"fixed\" or \"exponential\" is expected",
                                           restart.path_of("strategy"), name));
}

void read_max_delay(TomlSection& restart, RestartOptions& options) {
  if (!restart.has("max_delay")) {
    options.max_delay = std::max(options.max_delay, options.delay);
    return;
  }
  if (options.strategy == RestartOptions::Strategy::fixed) {
    restart.fail_key("max_delay", fmt::format("{} of a fixed strategy: its delay does not change",
                                              restart.path_of("max_delay")));
  }
  options.max_delay = restart.duration("max_delay");
  if (options.max_delay >= options.delay) return;
  restart.fail_key("max_delay",
                   fmt::format("{} is {}, and {} {}; at least as much is expected",
                               restart.path_of("max_delay"), describe(in_ms(options.max_delay)),
                               restart.path_of("delay"), describe(in_ms(options.delay))));
}

}  // namespace

CheckpointOptions read_checkpoint(TomlSection& checkpoint) {
  CheckpointOptions options;
  options.interval = span_above_zero(checkpoint, "interval", options.interval);
  options.min_pause = checkpoint.duration_or("min_pause", in_ms(options.min_pause));
  options.timeout = span_above_zero(checkpoint, "timeout", options.timeout);
  options.tolerable_failures =
      count(checkpoint, "tolerable_failures", options.tolerable_failures, most_failures);
  options.retained = count(checkpoint, "retained", options.retained, most_retained, 1);
  return options;
}

RestartOptions read_restart(TomlSection& restart) {
  RestartOptions options;
  options.strategy = read_strategy(restart);
  options.delay = restart.duration_or("delay", in_ms(options.delay));
  read_max_delay(restart, options);
  options.attempts = count(restart, "attempts", options.attempts, most_attempts);
  if (restart.has("within")) {
    options.within = span_above_zero(restart, "within", std::chrono::nanoseconds(0));
  }
  return options;
}

std::string to_toml(const CheckpointOptions& checkpoint) {
  return fmt::format(
      "interval = {}\nmin_pause = {}\ntimeout = {}\ntolerable_failures = {}\nretained = {}\n",
      span_text(checkpoint.interval), span_text(checkpoint.min_pause),
      span_text(checkpoint.timeout), checkpoint.tolerable_failures, checkpoint.retained);
}

std::string to_toml(const RestartOptions& restart) {
  const bool is_fixed = restart.strategy == RestartOptions::Strategy::fixed;
  std::string out = fmt::format("strategy = \"{}\"\ndelay = {}\n",
                                is_fixed ? "fixed" : "exponential", span_text(restart.delay));
  if (!is_fixed) out += fmt::format("max_delay = {}\n", span_text(restart.max_delay));
  out += fmt::format("attempts = {}\n", restart.attempts);
  if (restart.within) out += fmt::format("within = {}\n", span_text(*restart.within));
  return out;
}

}  // namespace millrace
