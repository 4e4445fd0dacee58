#include "explain.hpp"

#include <fmt/format.h>

namespace millrace::tool {
namespace {

std::string_view advice(Refusal refusal) {
  switch (refusal) {
    case Refusal::already_owned:
      return "Two processes on one job would undo each other's work. Wait for the other, or end "
             "it.";
    case Refusal::job_changed:
      return "The state was computed by another job; its sums and windows mean nothing to this "
             "one.\n"
             "  Undo the change, or begin a new history with --fresh (and --adopt to keep the "
             "rows).";
    case Refusal::input_changed:
      return "The positions in the state point into other bytes now: going on would skip or "
             "repeat\n"
             "  records. Put the old input back, or begin a new history with --fresh.";
    case Refusal::state_unreadable:
      return "An older checkpoint would rewind behind rows that are visible already, so none is "
             "tried.\n"
             "  Restore the state directory from a copy, or begin a new history with --fresh.";
    case Refusal::marker_missing:
      return "The job has published rows, and the database does not know of them: it was emptied "
             "or\n"
             "  replaced. Restore it, or begin a new history with --fresh.";
    case Refusal::sink_foreign:
      return "The rows belong to another history, of another state directory. Use the directory "
             "that\n"
             "  belongs to this table, or take the rows over with --adopt.";
    case Refusal::sink_ahead:
      return "The state directory is older than the table, as after restoring a copy: going on "
             "would\n"
             "  show rows twice. Restore the newer state, or empty the table and use --fresh.";
    case Refusal::sink_occupied:
      return "A new job found rows that it did not write. Name another table, empty this one, or "
             "take\n"
             "  the rows over with --adopt.";
    case Refusal::staged_rows_missing:
      return "Rows that were decided but not yet visible are gone from the state directory: going "
             "on\n"
             "  would lose them silently. Restore the directory, or begin anew with --fresh.";
  }
  return "";
}

}  // namespace

std::string explain(const Refused& refused) {
  return fmt::format("refused ({}): {}\n  {}", name_of(refused.why()), refused.what(),
                     advice(refused.why()));
}

}  // namespace millrace::tool
