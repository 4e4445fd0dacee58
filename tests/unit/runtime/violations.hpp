#pragma once

#include <string>
#include <string_view>

#include "millrace/env/invariant.hpp"

namespace millrace {

/// Thrown by an invariant that does not hold, while a ThrowingViolations lives.
struct Violation {
  std::string claim;
};

/// Makes broken invariants visible to a test instead of ending it.
class ThrowingViolations {
 public:
  ThrowingViolations() : before_(set_violation_handler(&throw_it)) {}
  ThrowingViolations(const ThrowingViolations&) = delete;
  ThrowingViolations& operator=(const ThrowingViolations&) = delete;
  ~ThrowingViolations() { set_violation_handler(before_); }

 private:
  static void throw_it(std::string_view claim, Where) { throw Violation{std::string(claim)}; }
  ViolationHandler before_;
};

/// The invariant that `act` breaks; empty if it breaks none.
template <class Act>
std::string broken_invariant(Act act) {
  const ThrowingViolations throwing;
  try {
    act();
  } catch (const Violation& violation) {
    return violation.claim;
  }
  return "";
}

}  // namespace millrace
