#pragma once

#include <string>

namespace millrace::nexmark {

/// The free texts of an event. No query here looks at them; they make events as large as those of
/// the benchmark: 200 bytes a person, 500 an auction, 100 a bid.
struct Texts {
  std::string email;        ///< Of persons.
  std::string credit_card;  ///< Of persons.
  std::string item;         ///< Of auctions.
  std::string description;  ///< Of auctions.
  std::string extra;        ///< Of all: padding.
  friend bool operator==(const Texts&, const Texts&) = default;
};

}  // namespace millrace::nexmark
