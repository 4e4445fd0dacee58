#include "json_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::nexmark {

namespace dom = simdjson::dom;

void JsonFields::read(std::string_view line) {
  fields_.clear();
  dom::element document;
  if (const auto error = parser_.parse(line.data(), line.size()).get(document)) {
    throw JobFailed(fmt::format("this is not JSON: {}", simdjson::error_message(error)));
  }
  dom::object object;
  if (document.get(object) != simdjson::SUCCESS) throw JobFailed("a JSON object is expected");
  for (const dom::key_value_pair field : object) {
    if (find(field.key) != fields_.end()) {
      throw JobFailed(fmt::format("the field `{}` stands there twice", field.key));
    }
    fields_.push_back(field);
  }
}

std::string_view JsonFields::text(std::string_view name) {
  const auto found = take(name);
  std::string_view text;
  if (!found || found->get(text) != simdjson::SUCCESS) fail(name, "a string");
  return text;
}

std::string JsonFields::text_if_any(std::string_view name) {
  return find(name) == fields_.end() ? std::string() : std::string(text(name));
}

std::int64_t JsonFields::integer(std::string_view name, std::int64_t least, std::int64_t most) {
  const auto found = take(name);
  std::int64_t value = 0;
  if (!found || !found->is_int64() || found->get(value) != simdjson::SUCCESS || value < least ||
      value > most) {
    fail(name, fmt::format("an integer from {} to {}", least, most));
  }
  return value;
}

EventTime JsonFields::time(std::string_view name) {
  return {integer(name, earliest_event_time.ms, latest_event_time.ms)};
}

void JsonFields::expect_no_more() const {
  if (fields_.empty()) return;
  throw JobFailed(fmt::format("the field `{}` is not known here", fields_.front().key));
}

void JsonFields::fail(std::string_view name, std::string_view expected) {
  throw JobFailed(fmt::format("the field `{}`: {} is expected", name, expected));
}

std::vector<dom::key_value_pair>::iterator JsonFields::find(std::string_view name) {
  return std::ranges::find(fields_, name, &dom::key_value_pair::key);
}

std::optional<dom::element> JsonFields::take(std::string_view name) {
  const auto found = find(name);
  if (found == fields_.end()) return std::nullopt;
  const dom::element value = found->value;
  fields_.erase(found);
  return value;
}

}  // namespace millrace::nexmark
