#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "millrace/nexmark/event.hpp"
#include "millrace/nexmark/texts.hpp"

namespace millrace::nexmark {

// An event as one line of JSON: a flat object, `kind` first, money in cents, times in ms.
//
//     {"kind":"bid","auction":1000,"bidder":1001,"price":4217,"at":1436918400000}

/// Without its texts. No newline at the end.
std::string to_text(const Event& event);
/// With those texts that its kind has.
std::string to_text(const Event& event, const Texts& texts);

class JsonFields;

/// Reads such lines back, exactly. Strict: all fields of the kind and no others, each once, in any
/// order; of the texts any may be missing, and is then empty.
///
/// Keeps memory between lines.
class EventParser {
 public:
  EventParser();
  ~EventParser();

  /// Throws JobFailed: the line is no such event. The text names the field and what was expected.
  Event parse(std::string_view line);
  Event parse(std::string_view line, Texts& texts);

 private:
  std::unique_ptr<JsonFields> fields_;
};

}  // namespace millrace::nexmark
