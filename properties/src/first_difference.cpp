#include "millrace/properties/first_difference.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace millrace::properties {
namespace {

/// Lines of a child begin with one of these.
constexpr char event_line = '*';
constexpr char landmark_line = '~';

std::string to_line(const sim::TraceEvent& event) {
  return fmt::format("{}{:x} {:x} {:x} {:x}", event_line, event.kind_and_a, event.b, event.c,
                     event.at);
}

sim::TraceEvent parse_event(std::string_view line) {
  sim::TraceEvent event;
  const char* at = line.data() + 1;
  for (std::uint64_t* const number : {&event.kind_and_a, &event.b, &event.c, &event.at}) {
    at = std::from_chars(at, line.data() + line.size(), *number, 16).ptr + 1;
  }
  return event;
}

struct Reached {
  std::int64_t at_ns;
  std::string what;
};

Reached parse_landmark(std::string_view line) {
  Reached reached{0, ""};
  const auto space = line.find(' ');
  std::from_chars(line.data() + 1, line.data() + space, reached.at_ns);
  reached.what = line.substr(space + 1);
  return reached;
}

int tell_run(const Case& scenario, const Subject& subject, bool has_past,
             const std::function<void(std::string_view)>& say) {
  sim::StackPool stacks;
  if (has_past) run_case(scenario, subject, stacks);
  Observers observers;
  observers.on_event = [&](const sim::TraceEvent& event) { say(to_line(event)); };
  observers.on_landmark = [&](Instant at, std::string_view node, const sim::LandmarkEvent& event) {
    say(fmt::format("{}{} {} of {} on {}", landmark_line, at.ns, event.landmark.name, event.role,
                    node));
  };
  run_case(scenario, subject, stacks, observers);
  return 0;
}

using OnLine = std::function<void(std::string_view)>;

void run_in_process(const Case& scenario, const Subject& subject, Workers& workers, bool has_past,
                    const OnLine& on_line) {
  workers.run(
      1, [&](int, const OnLine& say) { return tell_run(scenario, subject, has_past, say); },
      [&](int, std::string_view line) { on_line(line); }, [](const ChildEnd&) { return false; },
      [] { return true; });
}

std::string last_before(const std::vector<Reached>& reached, std::int64_t at_ns) {
  std::string last;
  for (const Reached& landmark : reached) {
    if (landmark.at_ns <= at_ns) last = landmark.what;
  }
  return last;
}

}  // namespace

std::optional<FirstDifference> find_first_difference(const Case& scenario, const Subject& subject,
                                                     Workers& workers) {
  std::vector<sim::TraceEvent> events;
  std::vector<Reached> reached;
  run_in_process(scenario, subject, workers, false, [&](std::string_view line) {
    if (line.front() == event_line) events.push_back(parse_event(line));
    if (line.front() == landmark_line) reached.push_back(parse_landmark(line));
  });

  std::size_t compared = 0;
  std::optional<FirstDifference> difference;
  std::int64_t at_ns = 0;
  const auto differ_at = [&](const sim::TraceEvent* one, const sim::TraceEvent* other) {
    difference = {compared + 1, one == nullptr ? "" : to_text(*one),
                  other == nullptr ? "" : to_text(*other), ""};
    at_ns = static_cast<std::int64_t>(
        std::min(one == nullptr ? other->at : one->at, other == nullptr ? one->at : other->at));
  };
  run_in_process(scenario, subject, workers, true, [&](std::string_view line) {
    if (difference || line.front() != event_line) return;
    const sim::TraceEvent event = parse_event(line);
    if (compared == events.size()) {
      differ_at(nullptr, &event);
    } else if (events[compared] != event) {
      differ_at(&events[compared], &event);
    } else {
      ++compared;
    }
  });
  if (!difference && compared != events.size()) differ_at(&events[compared], nullptr);
  if (difference) difference->landmark = last_before(reached, at_ns);
  return difference;
}

std::string to_text(const FirstDifference& difference) {
  const auto or_nothing = [](const std::string& event) {
    return event.empty() ? std::string("nothing more") : event;
  };
  return fmt::format(
      "the first event that differs is number {}{}{}: {}; and in a process that has run "
      "it before, {}",
      difference.event, difference.landmark.empty() ? "" : ", after ", difference.landmark,
      or_nothing(difference.one), or_nothing(difference.other));
}

}  // namespace millrace::properties
