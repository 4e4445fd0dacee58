#include "words.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Words::advance() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  const std::size_t begin = at_;
  if (at_ == text_.size()) {
    kind_ = Kind::end;
  } else if (is_letter(text_[at_])) {
    kind_ = Kind::name;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  } else if (is_digit(text_[at_])) {
    kind_ = Kind::number;
    while (at_ < text_.size() && is_number_part(at_)) ++at_;
  } else if (text_[at_] == '\'') {
    kind_ = Kind::text;
    read_text();
  } else {
    kind_ = Kind::symbol;
    const auto two = text_.substr(at_, 2);
    at_ += two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
  }
  word_ = text_.substr(begin, at_ - begin);
}

void Words::expected(std::string_view what) const {
  throw UsageError(kind_ == Kind::end ? fmt::format("{} is expected at its end", what)
                                      : fmt::format("{} is expected, not `{}`", what, word_));
}

bool Words::is_number_part(std::size_t at) const {
  const char c = text_[at];
  const bool is_exponent_sign =
      (c == '-' || c == '+') && at > 0 && (text_[at - 1] == 'e' || text_[at - 1] == 'E');
  return is_digit(c) || c == '.' || c == 'e' || c == 'E' || is_exponent_sign;
}

/// A quote inside a text is written twice.
void Words::read_text() {
  value_.clear();
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] != '\'') {
      value_ += text_[at_];
    } else if (text_.substr(at_, 2) == "''") {
      value_ += text_[at_++];
    } else {
      ++at_;
      return;
    }
  }
  throw UsageError("a text in quotes does not end");
}

}  // namespace millrace
