#pragma once

#include <boost/multiprecision/cpp_int.hpp>

namespace millrace::properties {

/// The reference computes with fractions of any length, and rounds by way of decimal texts: neither
/// has anything in common with the processor's fixed-point accumulators.
using Fraction = boost::multiprecision::cpp_rational;

/// A finite double, exactly.
Fraction exact(double value);

/// The nearest double, ties to even. Throws UsageError: it is beyond the largest.
double nearest_double(const Fraction& value);

}  // namespace millrace::properties
