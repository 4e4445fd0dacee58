#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "millrace/nexmark/text.hpp"
#include "millrace/runtime/lines.hpp"

namespace millrace::nexmark {

/// Reads a line as an event (text.hpp). Each copy has a parser of its own, because each reader of a
/// partition has a copy, in a task of its own.
class ReadEvent {
 public:
  ReadEvent() = default;
  ReadEvent(const ReadEvent&) : ReadEvent() {}

  Event operator()(std::string_view line) const { return parser_.parse(line); }

 private:
  mutable EventParser parser_;  ///< Keeps memory between lines, and nothing that shows.
};

/// The events in the files at `address`, one a line.
inline Source<Event> event_lines(std::string address) {
  return text_lines<Event>(std::move(address), ReadEvent{});
}

}  // namespace millrace::nexmark
