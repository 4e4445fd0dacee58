#include "kept_case.hpp"

#include <fmt/format.h>

#include "case_files.hpp"

namespace millrace::properties {

std::string keep(Case failed, const Outcome& outcome) {
  tool::note_seen(failed, outcome);
  const std::string path = tool::save_case("millrace-cases", failed, outcome);
  std::string said;
  for (const std::string& sentence : tool::story(failed, outcome)) said += sentence + "\n";
  return fmt::format("{}the case was written; to see it again:\n  millrace replay {}\n", said,
                     path);
}

}  // namespace millrace::properties
