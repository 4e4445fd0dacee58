#pragma once

namespace millrace::posix {

/// Makes the first SIGINT or SIGTERM a wish, and the second one an order.
///
/// After the first, `requested` is true and it is for the program to end well. The second ends the
/// process at once with exit code 130; what that costs is what a crash costs. At most one of these
/// exists at a time; when it goes away, signals do what they did before.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  bool requested() const;
};

}  // namespace millrace::posix
