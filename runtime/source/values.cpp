#include "millrace/runtime/values.hpp"

#include <fmt/format.h>

namespace millrace {

std::string values_partition(int i) { return fmt::format("values-{:06}", i); }

}  // namespace millrace
