#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace {

/// Cuts the text of a condition or of arithmetic into words, as it is asked for them. A copy goes
/// on by itself.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { advance(); }

  enum class Kind : std::uint8_t { end, name, number, text, symbol };
  Kind kind() const { return kind_; }
  std::string_view word() const { return word_; }
  /// Of a text, without its quotes.
  const std::string& value() const { return value_; }
  bool is(std::string_view word) const {
    return (kind_ == Kind::name || kind_ == Kind::symbol) && word_ == word;
  }
  /// To the next word. Throws UsageError: a text in quotes does not end.
  void advance();

  /// Throws UsageError: `what` is expected, and not what stands here.
  [[noreturn]] void expected(std::string_view what) const;

 private:
  bool is_number_part(std::size_t at) const;
  void read_text();

  std::string_view text_;
  std::size_t at_ = 0;
  Kind kind_ = Kind::end;
  std::string_view word_;
  std::string value_;
};

}  // namespace millrace
