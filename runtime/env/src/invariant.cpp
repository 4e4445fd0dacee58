#include "millrace/env/invariant.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace millrace {
namespace {

void print_and_abort(std::string_view claim, Where where) {
  std::fprintf(stderr, "%s:%d: this should always be true, and is not: %.*s\n", where.file,
               where.line, static_cast<int>(claim.size()), claim.data());
  std::abort();
}

std::atomic<ViolationHandler> installed{&print_and_abort};

}  // namespace

ViolationHandler set_violation_handler(ViolationHandler handler) {
  return installed.exchange(handler == nullptr ? &print_and_abort : handler);
}

void violated(std::string_view claim, Where where) {
  installed.load()(claim, where);
  print_and_abort("a violation handler does not return", Where::here());
  std::abort();
}

}  // namespace millrace
