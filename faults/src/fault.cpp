#include "millrace/faults/fault.hpp"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace::faults {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr Unit units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

/// Longer than anything in a job waits, and short enough for a run to get past it.
constexpr std::chrono::nanoseconds longest_outage = std::chrono::hours(1);

std::string moment_text(const Moment& moment) {
  if (const auto* anchor = std::get_if<Anchor>(&moment)) {
    return fmt::format("'{}'", to_text(*anchor));
  }
  return to_text(std::chrono::nanoseconds(std::get<Instant>(moment).ns));
}

/// The words of a fault: its kind, then `name=value`, values with spaces in single quotes.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {
    kind_ = next_word();
    while (skip_spaces()) {
      const auto equals = text_.find('=', at_);
      if (equals == std::string_view::npos) wrong("name=value is expected");
      const std::string name(text_.substr(at_, equals - at_));
      at_ = equals + 1;
      if (!values_.emplace(name, value()).second)
        wrong(fmt::format("`{}` stands there twice", name));
    }
  }

  std::string_view kind() const { return kind_; }

  std::string take(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) wrong(fmt::format("`{}=` is missing", name));
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  void finish() const {
    if (values_.empty()) return;
    wrong(fmt::format("`{}=` does not belong to `{}`", values_.begin()->first, kind_));
  }
  [[noreturn]] void wrong(std::string_view why) const {
    throw UsageError(fmt::format("fault `{}`: {}", text_, why));
  }

 private:
  bool skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size();
  }
  std::string_view next_word() {
    skip_spaces();
    const auto end = std::min(text_.find(' ', at_), text_.size());
    const auto word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }
  std::string value() {
    if (at_ == text_.size() || text_[at_] != '\'') return std::string(next_word());
    const auto end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) wrong("a quote does not end");
    const auto quoted = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(quoted);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view kind_;
  std::map<std::string, std::string> values_;
};

Moment parse_moment(const std::string& text) {
  // A span begins with a digit, a landmark's name does not.
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') return Instant{parse_span(text).count()};
  return parse_anchor(text);
}

}  // namespace

std::string_view kind_of(const Fault& fault) { return kinds[fault.index()]; }

const std::string& node_of(const Fault& fault) {
  return std::visit([](const auto& f) -> const std::string& { return f.node; }, fault);
}

const Moment& moment_of(const Fault& fault) {
  return std::visit([](const auto& f) -> const Moment& { return f.at; }, fault);
}

std::string to_text(std::chrono::nanoseconds span) {
  for (const Unit& unit : units) {
    if (span.count() != 0 && span.count() % unit.ns == 0) {
      return fmt::format("{}{}", span.count() / unit.ns, unit.name);
    }
  }
  return "0s";
}

std::chrono::nanoseconds parse_span(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    const bool fits = error == std::errc{} && number >= 0 && number <= INT64_MAX / unit.ns;
    if (name == unit.name && fits) return std::chrono::nanoseconds(number * unit.ns);
  }
  throw UsageError(
      fmt::format("`{}` is no span; one such as 200ms is expected, with ns, us, ms or s", text));
}

std::string to_text(const Fault& fault) {
  const std::string begin = fmt::format("{} node={} at={}", kind_of(fault), node_of(fault),
                                        moment_text(moment_of(fault)));
  if (const auto* kill = std::get_if<Kill>(&fault)) return begin + " down=" + to_text(kill->down);
  if (const auto* loss = std::get_if<PowerLoss>(&fault)) {
    return begin + " down=" + to_text(loss->down);
  }
  return begin + " lasts=" + to_text(std::get<Pause>(fault).lasts);
}

Fault parse_fault(std::string_view text) {
  Words words(text);
  const auto make = [&]<class F>(F fault, std::chrono::nanoseconds F::*span, const char* name) {
    fault.node = words.take("node");
    fault.at = parse_moment(words.take("at"));
    fault.*span = parse_span(words.take(name));
    if (fault.*span > longest_outage) {
      words.wrong(fmt::format("`{}=` is longer than an hour", name));
    }
    words.finish();
    return Fault(std::move(fault));
  };
  if (words.kind() == "kill") return make(Kill{}, &Kill::down, "down");
  if (words.kind() == "power_loss") return make(PowerLoss{}, &PowerLoss::down, "down");
  if (words.kind() == "pause") return make(Pause{}, &Pause::lasts, "lasts");
  words.wrong(fmt::format("kill, power_loss or pause is expected, not `{}`", words.kind()));
}

}  // namespace millrace::faults
