#pragma once

#include <string>
#include <vector>

#include "millrace/runtime/job/arithmetic.hpp"

#include "words.hpp"

namespace millrace {

/// Reads arithmetic out of words, up to the first that does not belong to it.
class ArithmeticParser {
 public:
  ArithmeticParser(Words& words, const std::vector<Field>& fields)
      : words_(words), fields_(fields) {}

  /// Of any type.
  Arithmetic parse();
  /// To be compared with `other`: of its type.
  Arithmetic parse_beside(const Arithmetic& other);

 private:
  /// What a value must be, and what is said if it is not. Empty: anything.
  struct Wanted {
    bool is_text = false;
    std::string words;
  };

  Arithmetic sum(const Wanted& wanted);
  Arithmetic product(const Wanted& wanted);
  Arithmetic factor(const Wanted& wanted);
  Arithmetic leaf(const Wanted& wanted);
  Arithmetic joined(Arithmetic::Kind kind, Arithmetic left, Arithmetic right) const;
  Arithmetic negated(Arithmetic inner) const;
  Arithmetic number(std::string_view sign);
  void expect_number(const Arithmetic& value) const;

  Words& words_;
  const std::vector<Field>& fields_;
  int depth_ = 0;
};

/// Deeper nesting than anybody writes, and less than a stack holds.
constexpr int deepest_nesting = 100;

}  // namespace millrace
