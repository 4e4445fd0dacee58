#include "millrace/env/anchor.hpp"

#include <charconv>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

constexpr std::string_view conditions = "role=, term=, n=, subtask=, retry=, life= or nth=";

template <class Number>
Number parse_value(std::string_view word, std::string_view value) {
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw UsageError(fmt::format("`{}` in an anchor: a number is expected behind `=`", word));
  }
  return number;
}

bool role_fits(std::string_view pattern, std::string_view role) {
  if (pattern.empty()) return true;
  if (pattern.back() != '*') return pattern == role;
  return role.starts_with(pattern.substr(0, pattern.size() - 1));
}

template <class Wanted, class Found>
bool fits(const std::optional<Wanted>& wanted, Found found) {
  return !wanted || *wanted == found;
}

void set_condition(Anchor& anchor, std::string_view word) {
  const auto equals = word.find('=');
  const auto name = word.substr(0, equals);
  const auto value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (name == "role") {
    anchor.role = value;
  } else if (name == "term") {
    anchor.term = parse_value<std::uint64_t>(word, value);
  } else if (name == "n") {
    anchor.n = parse_value<std::uint64_t>(word, value);
  } else if (name == "subtask") {
    anchor.subtask = parse_value<std::int32_t>(word, value);
  } else if (name == "retry") {
    anchor.retry = parse_value<std::uint32_t>(word, value);
  } else if (name == "life") {
    if (value != "any") anchor.life = parse_value<std::uint32_t>(word, value);
  } else if (name == "nth") {
    anchor.nth = parse_value<std::uint64_t>(word, value);
    if (anchor.nth == 0) throw UsageError("`nth=0` in an anchor: counting begins at 1");
  } else {
    throw UsageError(fmt::format("`{}` in an anchor: expected {}", word, conditions));
  }
}

}  // namespace

std::string to_text(const Anchor& anchor) {
  std::string text = anchor.landmark;
  const auto add = [&text](std::string_view name, const auto& value) {
    if (value) text += fmt::format(" {}={}", name, *value);
  };
  if (!anchor.role.empty()) text += " role=" + anchor.role;
  add("term", anchor.term);
  add("n", anchor.n);
  add("subtask", anchor.subtask);
  add("retry", anchor.retry);
  add("life", anchor.life);
  if (anchor.nth != 1) text += fmt::format(" nth={}", anchor.nth);
  return text;
}

Anchor parse_anchor(std::string_view text) {
  Anchor anchor;
  while (true) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (anchor.landmark.empty()) {
      anchor.landmark = word;
    } else {
      set_condition(anchor, word);
    }
  }
  if (anchor.landmark.empty()) {
    throw UsageError(
        "an anchor begins with the name of a landmark; `millrace landmarks` lists them");
  }
  return anchor;
}

bool AnchorWatch::observe(const Landmark& landmark, std::string_view role, std::uint32_t life,
                          const LandmarkFields& fields) {
  const bool same = anchor_.landmark == landmark.name && role_fits(anchor_.role, role) &&
                    fits(anchor_.term, fields.id.term.number) && fits(anchor_.n, fields.id.n) &&
                    fits(anchor_.subtask, fields.subtask) && fits(anchor_.retry, fields.retry) &&
                    fits(anchor_.life, life);
  return same && ++seen_ == anchor_.nth;
}

}  // namespace millrace
