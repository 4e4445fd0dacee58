#include "millrace/runtime/operators/function_failure.hpp"

#include <exception>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {

std::string describe_key(std::int64_t number) { return fmt::format("key {}", number); }
std::string describe_key(std::uint64_t number) { return fmt::format("key {}", number); }
std::string describe_key(std::string_view text) { return fmt::format("key `{}`", text); }
std::string describe_key_hash(std::uint64_t hash) {
  return fmt::format("a key of hash {:016x}", hash);
}

void rethrow_of_function(std::string_view operator_name, std::string_view where, EventTime time) {
  const auto describe = [&](const std::exception& error) {
    return fmt::format("{}: the function failed at {}, event time {} ms: {}", operator_name, where,
                       time.ms, error.what());
  };
  try {
    throw;
  } catch (const WorldError&) {
    throw;
  } catch (const JobFailed& error) {
    throw JobFailed(describe(error));
  } catch (const std::exception& error) {
    throw FunctionFailed(describe(error));
  }
}

}  // namespace millrace
