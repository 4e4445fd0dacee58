#include "millrace/faults/fault.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"
#include "millrace/sim/device_operations.hpp"

namespace millrace::faults {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr Unit units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

/// Longer than anything in a job waits, and short enough for a run to get past it.
constexpr std::chrono::nanoseconds longest_outage = std::chrono::hours(1);

constexpr std::string_view ways[] = {"both", "out", "in"};

/// ` at=...` or ` after=... delay=...`, and ` io=` if the fault waits for one.
std::string moment_text(const Moment& moment, std::uint64_t io) {
  std::string text;
  if (const auto* anchor = std::get_if<Anchor>(&moment)) {
    text = fmt::format(" at='{}'", to_text(*anchor));
  } else if (const auto* after = std::get_if<After>(&moment)) {
    text = fmt::format(" after={} delay={}", after->ordinal, to_text(after->delay));
  } else {
    text = " at=" + to_text(std::chrono::nanoseconds(std::get<Instant>(moment).ns));
  }
  if (io != 0) text += fmt::format(" io={}", io);
  return text;
}

std::string chance_text(Ratio ratio) { return fmt::format("{}/{}", ratio.part, ratio.whole); }

// What stands in front of a fault's moment, and what behind it.

std::string subject(const auto& fault) { return " node=" + fault.node; }
std::string subject(const Cut& fault) {
  return fmt::format(" node={} peer={} way={}", fault.node, fault.peer,
                     ways[static_cast<std::size_t>(fault.way)]);
}
template <class F>
  requires requires(F fault) { fault.peer; }
std::string subject(const F& fault) {
  return fmt::format(" node={} peer={}", fault.node, fault.peer);
}
template <class F>
  requires requires(F fault) { fault.operation; }
std::string subject(const F& fault) {
  return fmt::format(" node={} op={}", fault.node, fault.operation);
}

std::string extent(const Kill& fault) { return " down=" + to_text(fault.down); }
std::string extent(const PowerLoss& fault) { return " down=" + to_text(fault.down); }
std::string extent(const Reset&) { return ""; }
std::string extent(const LoseAnswer&) { return ""; }
std::string extent(const LateAnswer& fault) { return " by=" + to_text(fault.by); }
std::string extent(const Slow& fault) {
  return fmt::format(" lasts={} by={}", to_text(fault.lasts), to_text(fault.by));
}
std::string extent(const Frames& fault) {
  return fmt::format(" lasts={} lose={} repeat={} hold={}", to_text(fault.lasts),
                     chance_text(fault.chances.lose), chance_text(fault.chances.repeat),
                     chance_text(fault.chances.hold));
}
std::string extent(const auto& fault) { return " lasts=" + to_text(fault.lasts); }

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
  bool has(const std::string& name) const { return values_.contains(name); }

  std::uint64_t take_count(const std::string& name) {
    const std::string text = take(name);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
      wrong(fmt::format("`{}={}`: a whole number from 1 is expected", name, text));
    }
    return number;
  }
  /// No longer than a run can get past.
  std::chrono::nanoseconds take_span(const std::string& name) {
    const auto span = parse_span(take(name));
    if (span > longest_outage) wrong(fmt::format("`{}=` is longer than an hour", name));
    return span;
  }
  Ratio take_ratio(const std::string& name) {
    const std::string text = take(name);
    Ratio ratio;
    const char* const end = text.data() + text.size();
    const auto part = std::from_chars(text.data(), end, ratio.part);
    const bool has_whole = part.ec == std::errc{} && part.ptr != end && *part.ptr == '/';
    const auto whole = has_whole ? std::from_chars(part.ptr + 1, end, ratio.whole) : part;
    if (!has_whole || whole.ec != std::errc{} || whole.ptr != end || ratio.whole == 0 ||
        ratio.part > ratio.whole) {
      wrong(fmt::format("`{}={}`: a chance such as 1/4 is expected", name, text));
    }
    return ratio;
  }
  Moment take_moment();

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

Moment Words::take_moment() {
  if (has("after")) {
    if (has("at")) wrong("`at=` and `after=` are two moments; one is expected");
    After after;
    after.ordinal = take_count("after");
    after.delay = take_span("delay");
    return after;
  }
  const std::string text = take("at");
  // A span begins with a digit, a landmark's name does not.
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') return Instant{parse_span(text).count()};
  return parse_anchor(text);
}

sim::Way take_way(Words& words) {
  const std::string text = words.take("way");
  const auto way = std::find(std::begin(ways), std::end(ways), text);
  if (way == std::end(ways)) {
    words.wrong(fmt::format("`way={}`: both, out or in is expected", text));
  }
  return static_cast<sim::Way>(way - std::begin(ways));
}

std::string take_operation(Words& words) {
  std::string text = words.take("op");
  std::vector<std::string_view> known{"*"};
  const auto learn = [&known](std::span<const std::string_view> operations) {
    for (const std::string_view operation : operations) {
      if (std::find(known.begin(), known.end(), operation) != known.end()) continue;
      known.push_back(operation);
    }
  };
  learn(sim::store_operations);
  learn(sim::database_operations);
  learn(sim::log_operations);
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    words.wrong(fmt::format("`op={}`: one of {} is expected", text, fmt::join(known, ", ")));
  }
  return text;
}

// What a fault has besides its node and its moment.

void take_rest(Words& words, Kill& fault) { fault.down = words.take_span("down"); }
void take_rest(Words& words, PowerLoss& fault) { fault.down = words.take_span("down"); }
void take_rest(Words& words, Cut& fault) {
  fault.way = take_way(words);
  fault.lasts = words.take_span("lasts");
}
void take_rest(Words&, Reset&) {}
void take_rest(Words& words, Slow& fault) {
  fault.lasts = words.take_span("lasts");
  fault.by = words.take_span("by");
}
void take_rest(Words& words, LoseAnswer& fault) { fault.operation = take_operation(words); }
void take_rest(Words& words, LateAnswer& fault) {
  fault.operation = take_operation(words);
  fault.by = words.take_span("by");
}
void take_rest(Words& words, Frames& fault) {
  fault.lasts = words.take_span("lasts");
  fault.chances.lose = words.take_ratio("lose");
  fault.chances.repeat = words.take_ratio("repeat");
  fault.chances.hold = words.take_ratio("hold");
}
void take_rest(Words& words, auto& fault) { fault.lasts = words.take_span("lasts"); }

template <class F>
Fault take_fault(Words& words) {
  F fault;
  fault.node = words.take("node");
  if constexpr (requires { fault.peer; }) {
    fault.peer = words.take("peer");
    if (fault.peer == fault.node) words.wrong("a node is no peer of its own");
  }
  fault.at = words.take_moment();
  if constexpr (requires { fault.io; }) {
    if (words.has("io")) fault.io = words.take_count("io");
  }
  take_rest(words, fault);
  words.finish();
  return fault;
}

/// `kill, power_loss, ... or frames`.
std::string all_kinds() {
  constexpr std::size_t count = std::size(kinds);
  return fmt::format("{} or {}", fmt::join(std::begin(kinds), std::end(kinds) - 1, ", "),
                     kinds[count - 1]);
}

}  // namespace

std::string_view kind_of(const Fault& fault) { return kinds[fault.index()]; }

const std::string& node_of(const Fault& fault) {
  return std::visit([](const auto& f) -> const std::string& { return f.node; }, fault);
}

const std::string* peer_of(const Fault& fault) {
  return std::visit(
      [](const auto& f) -> const std::string* {
        if constexpr (requires { f.peer; }) return &f.peer;
        return nullptr;
      },
      fault);
}

const Moment& moment_of(const Fault& fault) {
  return std::visit([](const auto& f) -> const Moment& { return f.at; }, fault);
}

std::uint64_t io_of(const Fault& fault) {
  return std::visit(
      [](const auto& f) -> std::uint64_t {
        if constexpr (requires { f.io; }) return f.io;
        return 0;
      },
      fault);
}

Plan without(const Plan& plan, const std::function<bool(std::size_t index)>& goes) {
  Plan left;
  std::vector<std::size_t> ordinals;  // What each fault's is now; 0: it is gone.
  for (const Fault& fault : plan.faults) {
    const auto* const after = std::get_if<After>(&moment_of(fault));
    const bool leader_stays = after == nullptr || (after->ordinal <= ordinals.size() &&
                                                   ordinals[after->ordinal - 1] != 0);
    if (!leader_stays || goes(ordinals.size())) {
      ordinals.push_back(0);
      continue;
    }
    Fault kept = fault;
    if (after != nullptr) {
      const After moved{ordinals[after->ordinal - 1], after->delay};
      std::visit([&moved](auto& f) { f.at = moved; }, kept);
    }
    left.faults.push_back(std::move(kept));
    ordinals.push_back(left.faults.size());
  }
  return left;
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
  return std::visit(
      [&](const auto& f) {
        return std::string(kind_of(fault)) + subject(f) + moment_text(f.at, io_of(fault)) +
               extent(f);
      },
      fault);
}

Fault parse_fault(std::string_view text) {
  using Take = Fault (*)(Words&);
  static constexpr Take takes[] = {
      take_fault<Kill>,      take_fault<PowerLoss>, take_fault<Pause>,      take_fault<Cut>,
      take_fault<Reset>,     take_fault<Slow>,      take_fault<LoseAnswer>, take_fault<LateAnswer>,
      take_fault<DiskError>, take_fault<DiskFull>,  take_fault<Frames>};
  static_assert(std::size(takes) == std::variant_size_v<Fault>);
  static_assert(std::size(kinds) == std::variant_size_v<Fault>);
  Words words(text);
  for (std::size_t kind = 0; kind < std::size(kinds); ++kind) {
    if (words.kind() == kinds[kind]) return takes[kind](words);
  }
  words.wrong(fmt::format("{} is expected, not `{}`", all_kinds(), words.kind()));
}

}  // namespace millrace::faults
