#include "millrace/runtime/state/snapshot.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {

void expect_shape(std::string_view operator_name, const RestoredSection& section,
                  std::string_view shape) {
  if (section.shape == shape) return;
  throw UsageError(
      fmt::format("{}: the state `{}` was written as `{}`, and this job's is `{}`: its types have "
                  "changed since",
                  operator_name, section.part, section.shape, shape));
}

}  // namespace millrace
