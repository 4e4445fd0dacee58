#include "toml_section.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"

namespace millrace {
namespace {

constexpr std::string_view duration_expected = "a span such as \"10s\", with ms, s, min, h or d";

std::string kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string: return fmt::format("\"{}\"", *node.value<std::string>());
    case toml::node_type::integer: return fmt::format("{}", *node.value<std::int64_t>());
    case toml::node_type::floating_point: return "a fraction";
    case toml::node_type::boolean: return *node.value<bool>() ? "true" : "false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
  }
}

}  // namespace

std::string TomlSection::path_of(std::string_view key) const {
  return name_.empty() ? fmt::format("`{}`", key) : fmt::format("`{}.{}`", name_, key);
}

void TomlSection::fail_at(const toml::node* at, std::string_view what) const {
  const auto line = at == nullptr ? table_.source().begin.line : at->source().begin.line;
  // What a setting has put there stands on no line.
  throw UsageError(line == 0 ? fmt::format("{}: {}", file_, what)
                             : fmt::format("{}:{}: {}", file_, line, what));
}

const toml::node* TomlSection::find(const char* key) {
  asked_.emplace_back(key);
  return table_.get(key);
}

const toml::node& TomlSection::require(const char* key, std::string_view expected) {
  const toml::node* const node = find(key);
  if (node == nullptr) fail(fmt::format("{} is missing; {} is expected", path_of(key), expected));
  return *node;
}

void TomlSection::wrong(const char* key, const toml::node& node, std::string_view expected) const {
  fail_at(&node, fmt::format("{} is {}; {} is expected", path_of(key), kind_of(node), expected));
}

bool TomlSection::has(const char* key) { return find(key) != nullptr; }

std::string TomlSection::text(const char* key) {
  const toml::node& node = require(key, "a text");
  const auto value = node.value_exact<std::string>();
  if (!value) wrong(key, node, "a text in quotes");
  if (value->empty()) wrong(key, node, "a text that is not empty");
  return *value;
}

std::string TomlSection::text_or(const char* key, std::string fallback) {
  return has(key) ? text(key) : std::move(fallback);
}

std::int64_t TomlSection::integer_or(const char* key, std::int64_t fallback, std::int64_t least,
                                     std::int64_t most) {
  const toml::node* const node = find(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) {
    wrong(key, *node, fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

bool TomlSection::boolean_or(const char* key, bool fallback) {
  const toml::node* const node = find(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<bool>();
  if (!value) wrong(key, *node, "true or false");
  return *value;
}

Duration TomlSection::duration(const char* key) {
  const toml::node& node = require(key, duration_expected);
  const auto written = node.value_exact<std::string>();
  const auto value = written ? parse_duration(*written) : std::nullopt;
  if (!value) wrong(key, node, duration_expected);
  return *value;
}

Duration TomlSection::duration_or(const char* key, Duration fallback) {
  return has(key) ? duration(key) : fallback;
}

std::vector<TomlEntry> TomlSection::texts(const char* key) {
  constexpr std::string_view expected = "a list of texts, such as [\"a\", \"b\"],";
  const toml::node& node = require(key, expected);
  const toml::array* const list = node.as_array();
  if (list == nullptr) wrong(key, node, expected);
  std::vector<TomlEntry> entries;
  for (const toml::node& element : *list) {
    const auto value = element.value_exact<std::string>();
    if (!value) wrong(key, element, expected);
    entries.push_back({*value, &element});
  }
  return entries;
}

TomlSection TomlSection::section(const char* key) {
  const toml::node& node = require(key, "a table");
  if (node.as_table() == nullptr) wrong(key, node, "a table");
  return {file_, name_.empty() ? key : name_ + "." + key, *node.as_table()};
}

std::vector<TomlSection> TomlSection::sections(const char* key) {
  std::vector<TomlSection> found;
  const toml::node* const node = find(key);
  if (node == nullptr) return found;
  const std::string expected = fmt::format("a list of tables, each headed [[{}]],", key);
  const toml::array* const list = node->as_array();
  if (list == nullptr) wrong(key, *node, expected);
  for (const toml::node& element : *list) {
    if (element.as_table() == nullptr) wrong(key, element, expected);
    found.emplace_back(file_, key, *element.as_table());
  }
  return found;
}

std::vector<TomlEntry> TomlSection::entries() {
  all_asked_ = true;
  struct Placed {
    toml::source_position at;
    TomlEntry entry;
  };
  std::vector<Placed> placed;
  for (const auto& [key, value] : table_) {
    placed.push_back({key.source().begin, {std::string(key.str()), &value}});
  }
  // What a setting has added stands on no line, and behind what the file has.
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    if ((a.at.line == 0) != (b.at.line == 0)) return b.at.line == 0;
    return a.at < b.at;
  });
  std::vector<TomlEntry> entries;
  for (Placed& one : placed) entries.push_back(std::move(one.entry));
  return entries;
}

void TomlSection::finish() const {
  if (all_asked_) return;
  for (const auto& [key, value] : table_) {
    if (std::find(asked_.begin(), asked_.end(), key.str()) != asked_.end()) continue;
    auto accepted = asked_;
    std::sort(accepted.begin(), accepted.end());
    fail_at(&value, fmt::format("{} is no key that there is; {} has {}", path_of(key.str()),
                                name_.empty() ? "a job file" : fmt::format("[{}]", name_),
                                fmt::join(accepted, ", ")));
  }
}

}  // namespace millrace
