#include "millrace/sim/choice.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::sim {
namespace {

constexpr std::string_view domains[] = {"input", "plan", "world", "product"};

std::string quoted(const std::string& text) {
  const bool is_word = !text.empty() && text.find_first_of(" '") == std::string::npos;
  return is_word ? text : fmt::format("'{}'", text);
}

/// The words of a choice, as those of a fault (faults/PLAN.md): its domain, then `name=value`.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {
    skip_spaces();
    domain_ = word();
    while (skip_spaces()) {
      const auto equals = text_.find('=', at_);
      if (equals == std::string_view::npos) wrong("name=value is expected");
      std::string name(text_.substr(at_, equals - at_));
      at_ = equals + 1;
      const auto [place, is_new] = values_.emplace(std::move(name), value());
      if (!is_new) wrong(fmt::format("`{}` stands there twice", place->first));
    }
  }

  Domain domain() const {
    for (std::size_t i = 0; i < std::size(domains); ++i) {
      if (domain_ == domains[i]) return static_cast<Domain>(i + 1);
    }
    wrong(fmt::format("input, plan, world or product is expected, not `{}`", domain_));
  }

  bool has(const std::string& name) const { return values_.contains(name); }

  std::string take(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) wrong(fmt::format("`{}=` is missing", name));
    std::string value = std::move(found->second);
    values_.erase(found);
    if (value.empty()) wrong(fmt::format("`{}=` is empty; a name is expected", name));
    return value;
  }

  std::uint64_t take_number(const std::string& name, std::uint64_t least, std::uint64_t most) {
    const std::string value = take(name);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < least ||
        number > most) {
      wrong(fmt::format("`{}={}`: a whole number from {} to {} is expected", name, value, least,
                        most));
    }
    return number;
  }

  void finish() const {
    if (values_.empty()) return;
    wrong(fmt::format("`{}=` is not known; site, entity, part, draw and value are",
                      values_.begin()->first));
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw UsageError(fmt::format("choice `{}`: {}", text_, what));
  }

  bool skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size();
  }
  std::string_view word() {
    const auto begin = at_;
    at_ = std::min(text_.find(' ', begin), text_.size());
    return text_.substr(begin, at_ - begin);
  }
  std::string value() {
    if (at_ == text_.size() || text_[at_] != '\'') return std::string(word());
    const auto end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) wrong("a quote does not end");
    const auto begin = std::exchange(at_, end + 1) + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view domain_;
  std::map<std::string, std::string> values_;
};

}  // namespace

std::string_view to_text(Domain domain) { return domains[static_cast<std::size_t>(domain) - 1]; }

std::string to_text(const Choice& choice) {
  return fmt::format("{} site={} entity={}{} draw={} value={}", to_text(choice.domain),
                     quoted(choice.site), quoted(choice.entity),
                     choice.part == 0 ? "" : fmt::format(" part={}", choice.part), choice.draw,
                     choice.value);
}

Choice parse_choice(std::string_view text) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  Words words(text);
  Choice choice;
  choice.domain = words.domain();
  choice.site = words.take("site");
  choice.entity = words.take("entity");
  if (words.has("part")) {
    choice.part = static_cast<std::uint32_t>(
        words.take_number("part", 1, std::numeric_limits<std::uint32_t>::max()));
  }
  choice.draw = words.take_number("draw", 0, any);
  choice.value = words.take_number("value", 0, any);
  words.finish();
  return choice;
}

}  // namespace millrace::sim
