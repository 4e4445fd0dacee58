#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "millrace/env/event_time.hpp"

namespace millrace::nexmark {

/// The fields of a flat JSON object, taken out by name: what is left at the end was not expected.
///
/// All calls throw JobFailed with a text that names the field. Texts are lent until the next
/// `read`.
class JsonFields {
 public:
  void read(std::string_view line);

  std::string_view text(std::string_view name);
  /// Empty if there is no such field.
  std::string text_if_any(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t least = 0,
                       std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// Within the times that a record may carry.
  EventTime time(std::string_view name);
  void expect_no_more() const;

  [[noreturn]] static void fail(std::string_view name, std::string_view expected);

 private:
  std::vector<simdjson::dom::key_value_pair>::iterator find(std::string_view name);
  std::optional<simdjson::dom::element> take(std::string_view name);

  simdjson::dom::parser parser_;
  std::vector<simdjson::dom::key_value_pair> fields_;
};

}  // namespace millrace::nexmark
