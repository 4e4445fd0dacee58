#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/env/event_time.hpp"
#include "millrace/properties/input.hpp"
#include "millrace/runtime/source.hpp"

namespace millrace::examples {

/// What the jobs here read: `ada 250 1700000000000`, who paid how much and when.
struct Payment {
  std::string user;
  std::int64_t cents = 0;
  EventTime at;
};

/// Throws BadRecord.
Payment parse_payment(std::string_view line);

/// The lines of the files at `address`, in a format of one's own.
Source<Payment> payments(const std::string& address);

/// Made-up payments of a few users in two files, in the order of their times.
properties::Input some_payments(std::uint64_t records);

}  // namespace millrace::examples
