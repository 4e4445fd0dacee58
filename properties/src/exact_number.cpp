#include "exact_number.hpp"

#include <cmath>
#include <cstdlib>

#include "millrace/env/error.hpp"

namespace millrace::properties {
namespace {

using Integer = boost::multiprecision::cpp_int;

/// The last bit of the smallest double is 1,074 decimal places behind the point.
constexpr unsigned decimal_places = 1100;

}  // namespace

Fraction exact(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  const Fraction whole = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  const Fraction power(Integer(1) << std::abs(exponent));
  return exponent >= 0 ? Fraction(whole * power) : Fraction(whole / power);
}

double nearest_double(const Fraction& value) {
  const bool negative = value < 0;
  const Integer numerator = abs(boost::multiprecision::numerator(value));
  const Integer denominator = boost::multiprecision::denominator(value);
  Integer remainder;
  Integer digits;
  divide_qr(Integer(numerator * pow(Integer(10), decimal_places)), denominator, digits, remainder);
  // A last digit that says whether there is more settles every tie as the whole fraction would.
  const std::string text =
      digits.str() + (remainder == 0 ? "0" : "1") + "e-" + std::to_string(decimal_places + 1);
  const double nearest = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(nearest)) throw UsageError("a sum of this input does not fit into float64");
  return negative && nearest != 0 ? -nearest : nearest;
}

}  // namespace millrace::properties
