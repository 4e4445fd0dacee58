#include <fmt/format.h>

#include "millrace/runtime/landmarks.hpp"

#include "commands.hpp"

namespace millrace::tool {

int landmarks_command() {
  fmt::print(
      "The named moments of a run. An anchor is one of them with conditions, such as\n"
      "  sink_staged role=sink.* term=1 n=3 nth=1\n"
      "Faults of a case are anchored at them; MILLRACE_KILL_AT=ANCHOR kills a real run there.\n"
      "`data` landmarks come once a batch or window and are only counted.\n\n");
  for (const Landmark* landmark : landmarks::all) {
    fmt::print("{:<22} {} {}\n", landmark->name,
               landmark->kind == Landmark::Kind::data ? "data" : "    ", landmark->meaning);
  }
  return 0;
}

}  // namespace millrace::tool
