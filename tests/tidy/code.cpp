#include "code.hpp"

namespace millrace::tidy {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Blanker {
 public:
  explicit Blanker(std::string_view source) : source_(source), code_(source) {}

  std::string run() {
    while (at_ < source_.size()) {
      if (here("//")) {
        blank_to(source_.find('\n', at_));
      } else if (here("/*")) {
        blank_to(behind("*/", at_ + 2));
      } else if (here("R\"") && (at_ == 0 || !is_word(source_[at_ - 1]))) {
        blank_raw();
      } else if (source_[at_] == '"' && !is_include()) {
        blank_quoted('"');
      } else if (source_[at_] == '\'' && (at_ == 0 || !is_word(source_[at_ - 1]))) {
        blank_quoted('\'');  // And not the mark between the digits of a number.
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  bool here(std::string_view what) const { return source_.substr(at_, what.size()) == what; }
  std::size_t behind(std::string_view what, std::size_t from) const {
    const auto found = source_.find(what, from);
    return found == std::string_view::npos ? found : found + what.size();
  }
  bool is_include() const {
    const auto line = source_.substr(source_.rfind('\n', at_) + 1);
    return line.substr(0, 8) == "#include";
  }
  void blank_to(std::size_t end) {
    if (end == std::string_view::npos) end = source_.size();
    for (; at_ < end; ++at_) {
      if (code_[at_] != '\n') code_[at_] = ' ';
    }
  }
  void blank_raw() {
    const auto open = source_.find('(', at_);
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    blank_to(behind(close, open));
  }
  void blank_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
      end += source_[end] == '\\' ? 2 : 1;
    }
    blank_to(end + 1);
  }

  std::string_view source_;
  std::string code_;
  std::size_t at_ = 0;
};

}  // namespace

std::string code_of(std::string_view source) { return Blanker(source).run(); }

}  // namespace millrace::tidy
