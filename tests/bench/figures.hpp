#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::bench {

/// What a figure must be, or should become.
struct Bound {
  enum class Of : bool { value, ratio };
  enum class Side : bool { at_least, at_most };
  Of of;
  Side side;
  double limit;
};
constexpr Bound at_least(double value) { return {Bound::Of::value, Bound::Side::at_least, value}; }
constexpr Bound at_most(double value) { return {Bound::Of::value, Bound::Side::at_most, value}; }
constexpr Bound ratio_at_least(double ratio) {
  return {Bound::Of::ratio, Bound::Side::at_least, ratio};
}
constexpr Bound ratio_at_most(double ratio) {
  return {Bound::Of::ratio, Bound::Side::at_most, ratio};
}

/// What a benchmark found.
struct Figure {
  std::string name;  ///< `sim/switch`
  std::string unit;  ///< `ns`, `runs/s`. Everything per second is per second of processor time.
  double value = 0;
  std::optional<double> floor = std::nullopt;  ///< What the least that does the same found.
  std::optional<Bound> required = std::nullopt;
  std::optional<Bound> goal = std::nullopt;
};

/// Prints a figure when it is known, a line each: as a table for people or, with `--json`, as one
/// JSON object a line.
class Report {
 public:
  /// Takes `--json`, and `--only=` with a part of a figure's name, out of a program's arguments.
  Report(int& argc, char** argv);
  /// Whether anybody wants to know.
  bool wants(std::string_view name) const { return name.find(only_) != std::string_view::npos; }
  void add(const Figure& figure) const;

 private:
  bool as_json_ = false;
  std::string only_;
};

/// Seconds of processor time that this process has used: machines are shared, and its own work is
/// all that a benchmark can answer for.
double processor_seconds();
/// What `act` takes of them.
double seconds_of(const std::function<void()>& act);

double median(std::vector<double> values);

/// The medians of two measurements that are taken in turn, so that what else happens on the machine
/// falls upon both.
struct Pair {
  double value;
  double floor;
};
Pair medians_of(int rounds, const std::function<double()>& value,
                const std::function<double()>& floor);

}  // namespace millrace::bench
