// An example for each operator: a complete job, about as short as it can be. They are compiled and
// run, so they are right.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <catch2/catch.hpp>

#include "millrace/runtime/lines.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/values.hpp"

#include "fake_world.hpp"
#include "local_run.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

struct Click {
  std::int64_t user = 0;
  EventTime at;
  std::string page;
};
struct Purchase {
  std::int64_t user = 0;
  EventTime at;
  std::int64_t cents = 0;
};

const std::vector<Click> clicks{
    {1, {1'000}, "/"}, {2, {2'000}, "/"}, {1, {3'000}, "/shoes"}, {1, {3'500}, "/shoes"}};
const std::vector<Purchase> purchases{{1, {5'000}, 80}, {2, {9'000}, 20}, {1, {12'000}, 15}};

auto all_clicks() { return from("clicks", values(clicks)).event_time<&Click::at>(disorder(0s)); }
auto all_purchases() {
  return from("purchases", values(purchases)).event_time<&Purchase::at>(disorder(0s));
}

/// What a job gives. Its sources take turns, `piece` rows a turn.
template <class T, class Line>
std::vector<T> result_of(const Flow<T, Line>& flow, std::size_t piece = 1'000) {
  FakeWorld world;
  const Kept<T> kept;
  LocalRun(world, Job("example", flow.to("kept", kept.sink())), piece);
  return kept.values();
}

using Texts = std::vector<std::string>;

}  // namespace

// process: a visit ends when ten seconds pass without a click.

namespace {
struct CountVisits {
  struct State {
    std::set<std::string> pages;
  };
  using Output = std::string;

  void on_record(const Click& click, KeyContext<std::int64_t, State>& here,
                 Emit<std::string>&) const {
    here.state().pages.insert(click.page);
    here.wake(here.time() + 10s);
  }
  void on_alarm(KeyContext<std::int64_t, State>& here, Emit<std::string>& out) const {
    out(std::to_string(here.key()) + " saw " + std::to_string(here.state().pages.size()));
    here.forget();
  }
};
}  // namespace

TEST_CASE("example: process", "[runtime][examples]") {
  const auto visits = all_clicks().key_by<&Click::user>().process("visits", CountVisits{});

  CHECK(result_of(visits) == Texts{"2 saw 1", "1 saw 2"});
}

// reduce: what each user has spent so far.

TEST_CASE("example: reduce", "[runtime][examples]") {
  const auto spent = all_purchases().key_by<&Purchase::user>().reduce(
      "spent", [](const Purchase& so_far, const Purchase& next) {
        return Purchase{next.user, next.at, so_far.cents + next.cents};
      });

  CHECK(result_of(spent.map<&Purchase::cents>()) == std::vector<std::int64_t>{80, 20, 95});
}

// dedup: a page counts once in a second for a user.

TEST_CASE("example: dedup", "[runtime][examples]") {
  const auto once =
      all_clicks()
          .key_by([](const Click& click) { return std::to_string(click.user) + click.page; })
          .dedup("once", 1s)
          .map<&Click::page>();

  CHECK(result_of(once) == Texts{"/", "/", "/shoes"});
}

// keep_for: who has not come for so long is somebody new.

TEST_CASE("example: keep_for", "[runtime][examples]") {
  const auto spent = all_purchases()
                         .key_by<&Purchase::user>()
                         .reduce("spent",
                                 [](const Purchase& so_far, const Purchase& next) {
                                   return Purchase{next.user, next.at, so_far.cents + next.cents};
                                 })
                         .keep_for(3s);
  CHECK(result_of(spent.map<&Purchase::cents>(), 1) == std::vector<std::int64_t>{80, 20, 15});
}

// with, process: a purchase by somebody who has clicked before.

namespace {
struct AfterClicks {
  struct State {
    std::int64_t clicks = 0;
  };
  using Output = std::string;

  void on_left(const Click&, KeyContext<std::int64_t, State>& here, Emit<std::string>&) const {
    ++here.state().clicks;
  }
  void on_right(const Purchase& purchase, KeyContext<std::int64_t, State>& here,
                Emit<std::string>& out) const {
    out(std::to_string(purchase.cents) + " after " + std::to_string(here.state().clicks));
  }
};
}  // namespace

TEST_CASE("example: with, process", "[runtime][examples]") {
  const auto bought = all_clicks()
                          .key_by<&Click::user>()
                          .with(all_purchases().key_by<&Purchase::user>())
                          .process("bought", AfterClicks{});

  CHECK(result_of(bought) == Texts{"80 after 3", "20 after 1", "15 after 3"});
}

// join_within: clicks in the two seconds before a purchase.

TEST_CASE("example: join_within", "[runtime][examples]") {
  const auto led_to = all_clicks()
                          .key_by<&Click::user>()
                          .with(all_purchases().key_by<&Purchase::user>())
                          .join_within("led_to", 0s, 2s, [](const Click& click, const Purchase& p) {
                            return click.page + " " + std::to_string(p.cents);
                          });

  CHECK(result_of(led_to) == Texts{"/shoes 80", "/shoes 80"});
}

// window, join: clicks and purchases of the same ten seconds.

TEST_CASE("example: window, join", "[runtime][examples]") {
  const auto same = all_clicks()
                        .key_by<&Click::user>()
                        .with(all_purchases().key_by<&Purchase::user>())
                        .window(tumbling(10s))
                        .join("same", [](const Click& click, const Purchase& p, Window window) {
                          return click.page + " " + std::to_string(p.cents) + " by " +
                                 std::to_string(window.end.ms);
                        });

  CHECK(result_of(same) ==
        Texts{"/ 80 by 10000", "/shoes 80 by 10000", "/shoes 80 by 10000", "/ 20 by 10000"});
}

// with_broadcast: rules that change while rows come.

namespace {
struct Rule {
  std::string page;
  EventTime at;
};
struct Watch {
  struct State {};
  using Broadcast = std::set<std::string>;
  using Output = std::string;

  void on_broadcast(const Rule& rule, Broadcast& watched) const { watched.insert(rule.page); }
  void on_record(const Click& click, KeyContext<std::int64_t, State>&, const Broadcast& watched,
                 Emit<std::string>& out) const {
    if (watched.count(click.page) != 0) out(std::to_string(click.user) + " " + click.page);
  }
};
}  // namespace

TEST_CASE("example: with_broadcast", "[runtime][examples]") {
  const auto rules =
      from("rules", values(std::vector<Rule>{{"/shoes", {0}}})).event_time<&Rule::at>(disorder(0s));
  const auto seen =
      all_clicks().key_by<&Click::user>().with_broadcast(rules).process("watch", Watch{});

  CHECK(result_of(seen, 1) == Texts{"1 /shoes", "1 /shoes"});
}

// only: a function with several outputs.

namespace {
struct Split {
  struct State {};
  using Output = std::variant<std::int64_t, std::string>;

  void on_record(const Click& click, KeyContext<std::int64_t, State>&, Emit<Output>& out) const {
    if (click.page == "/") {
      out(click.user);
    } else {
      out(click.page);
    }
  }
};
}  // namespace

TEST_CASE("example: only", "[runtime][examples]") {
  const auto split = all_clicks().key_by<&Click::user>().process("split", Split{});

  CHECK(result_of(split.only<std::int64_t>()) == std::vector<std::int64_t>{1, 2});
  CHECK(result_of(split.only<std::string>()) == Texts{"/shoes", "/shoes"});
}

// text_lines: a format of one's own.

namespace {
Purchase parse_purchase(std::string_view line) {
  const auto comma = line.find(',');
  if (comma == line.npos) throw BadRecord("`user,cents` is expected");
  return {std::stoll(std::string(line.substr(0, comma))),
          {0},
          std::stoll(std::string(line.substr(comma + 1)))};
}
}  // namespace

TEST_CASE("example: text_lines", "[runtime][examples]") {
  FakeWorld world;
  world.log.partitions_by_name["purchases.csv"] = "1,80\n2,20\n1,15\n";
  const auto read = from("purchases", text_lines<Purchase>("*.csv", &parse_purchase))
                        .event_time<&Purchase::at>(disorder(0s));
  const Kept<std::int64_t> kept;
  LocalRun(world, Job("example", read.map<&Purchase::cents>().to("kept", kept.sink())));

  CHECK(kept.values() == std::vector<std::int64_t>{80, 20, 15});
}
