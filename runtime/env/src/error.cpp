#include "millrace/env/error.hpp"

#include "millrace/env/invariant.hpp"

namespace millrace {

const char* name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::already_owned: return "already_owned";
    case Refusal::job_changed: return "job_changed";
    case Refusal::input_changed: return "input_changed";
    case Refusal::state_unreadable: return "state_unreadable";
    case Refusal::marker_missing: return "marker_missing";
    case Refusal::sink_foreign: return "sink_foreign";
    case Refusal::sink_ahead: return "sink_ahead";
    case Refusal::sink_occupied: return "sink_occupied";
    case Refusal::staged_rows_missing: return "staged_rows_missing";
  }
  violated("every refusal has a name", Where::here());
}

}  // namespace millrace
