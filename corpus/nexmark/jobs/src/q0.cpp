// q0: every event, as it is. What the processor costs by itself.

#include "events_of.hpp"

namespace millrace::nexmark {

Job q0(const Source<Event>& events, const Sink<Event>& rows) {
  return Job("q0", all_of(events).to("q0", rows));
}

}  // namespace millrace::nexmark
