#include "millrace/runtime/source/bad_record.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {

void throw_bad_record(std::string_view partition, std::int64_t line, std::string_view why) {
  throw JobFailed(fmt::format("{}:{}: {}", partition, line, why));
}

}  // namespace millrace
