#include "millrace/runtime/collections.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/runtime/aggregate.hpp"
#include "millrace/runtime/state/codec.hpp"

#include "draws.hpp"

using namespace millrace;

namespace {

struct Bid {
  std::int64_t price = 0;
  std::string bidder;
  friend auto operator<=>(const Bid&, const Bid&) = default;
};

template <class A>
using StateOf = typename A::State;

template <class A>
auto folded(const A& fold, const std::vector<Bid>& bids) {
  StateOf<A> state{};
  for (const Bid& bid : bids) fold.add(state, fold.pick(bid));
  return std::decay_t<decltype(fold.result(state))>(fold.result(state));
}

/// The rows in some other order, folded in some parts, merged in some order.
template <class A>
auto folded_in_parts(const A& fold, std::vector<Bid> bids, Draws& draws) {
  draws.shuffle(bids);
  std::vector<StateOf<A>> parts(1 + draws.below(4));
  for (const Bid& bid : bids) fold.add(parts[draws.below(parts.size())], fold.pick(bid));
  StateOf<A> state{};
  for (const StateOf<A>& part : parts) fold.merge(state, part);
  return std::decay_t<decltype(fold.result(state))>(fold.result(state));
}

std::vector<Bid> some_bids(Draws& draws, std::size_t count) {
  std::vector<Bid> bids;
  for (std::size_t i = 0; i < count; ++i) {
    bids.push_back({static_cast<std::int64_t>(draws.below(20)),
                    std::string(1, static_cast<char>('a' + draws.below(6)))});
  }
  return bids;
}

/// Prices as they are given, in one text.
struct Joined {
  std::string operator()(std::span<const std::int64_t> prices) const {
    std::string text;
    for (const std::int64_t price : prices) text += std::to_string(price) + " ";
    return text;
  }
};

}  // namespace

TEST_CASE("different values are counted, each once", "[runtime][aggregate]") {
  const auto bidders = count_distinct<&Bid::bidder>();
  CHECK(folded(bidders, {}) == 0);
  CHECK(folded(bidders, {{1, "a"}}) == 1);
  CHECK(folded(bidders, {{1, "a"}, {2, "a"}, {3, "b"}, {4, "a"}}) == 2);
  const auto parities = count_distinct<Bid>([](const Bid& bid) { return bid.price % 2; });
  CHECK(folded(parities, {{1, "a"}, {2, "a"}, {3, "b"}}) == 2);
}

TEST_CASE("different values are counted exactly also when there are many", "[runtime][aggregate]") {
  const auto prices = count_distinct<&Bid::price>();
  Draws draws(5);
  std::set<std::int64_t> seen;
  decltype(prices)::State state;
  for (int i = 0; i < 5'000; ++i) {
    const auto price = static_cast<std::int64_t>(draws.below(700));
    prices.add(state, price);
    seen.insert(price);
    CHECK(state.values.size() <= 2 * seen.size() + 32);
    if (i % 97 == 0) CHECK(prices.result(state) == static_cast<std::int64_t>(seen.size()));
  }
}

TEST_CASE("the largest rows come largest first, and no more than asked for",
          "[runtime][aggregate]") {
  const auto top2 = top<&Bid::price>(2);
  CHECK(folded(top2, {}).empty());
  CHECK(folded(top2, {{3, "a"}}) == std::vector<Bid>{{3, "a"}});
  CHECK(folded(top2, {{3, "a"}, {5, "b"}, {4, "c"}, {1, "d"}}) ==
        std::vector<Bid>{{5, "b"}, {4, "c"}});
  CHECK(folded(top<Bid>(1, [](const Bid& bid) { return -bid.price; }), {{3, "a"}, {5, "b"}}) ==
        std::vector<Bid>{{3, "a"}});
  CHECK_THROWS_AS(top<&Bid::price>(0), UsageError);
}

TEST_CASE("rows that are equal by the member are ordered by themselves, whichever came first",
          "[runtime][aggregate]") {
  const std::vector<Bid> bids{{5, "b"}, {5, "c"}, {5, "a"}, {5, "c"}};
  std::vector<Bid> order = bids;
  std::sort(order.begin(), order.end());
  do {
    CHECK(folded(top<&Bid::price>(3), order) == std::vector<Bid>{{5, "c"}, {5, "c"}, {5, "b"}});
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("what is collected is given in order", "[runtime][aggregate]") {
  CHECK(folded(collect<&Bid::price>(Joined{}), {{3, "a"}, {1, "b"}, {2, "c"}, {1, "d"}}) ==
        "1 1 2 3 ");
  const auto first = collect<Bid>([](std::span<const Bid> bids) { return bids.front(); });
  CHECK(folded(first, {{3, "a"}, {1, "z"}, {1, "b"}}) == Bid{1, "b"});
}

TEST_CASE("neither order nor grouping shows in what a fold of values gives",
          "[runtime][aggregate]") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    const auto bids = some_bids(draws, 1 + draws.below(120));
    const auto check = [&](const auto& fold) {
      CHECK(folded_in_parts(fold, bids, draws) == folded(fold, bids));
    };
    check(count_distinct<&Bid::bidder>());
    check(count_distinct<&Bid::price>());
    check(top<&Bid::price>(1));
    check(top<&Bid::price>(7));
    check(collect<&Bid::price>(Joined{}));
    check(average<&Bid::price>());
    check(all(count(), top<&Bid::price>(2), average<&Bid::price>()));
  }
}

TEST_CASE("the states of folds of values come back as they were", "[runtime][aggregate]") {
  Draws draws(9);
  const auto bids = some_bids(draws, 90);
  const auto check = [&](const auto& fold) {
    using State = StateOf<std::decay_t<decltype(fold)>>;
    State state{};
    for (const Bid& bid : bids) fold.add(state, fold.pick(bid));
    Encoder out;
    encode(out, state);
    Decoder in(out.view());
    State other = decoded<State>(in);
    in.expect_end();
    for (const Bid& bid : bids) {
      fold.add(state, fold.pick(bid));
      fold.add(other, fold.pick(bid));
    }
    CHECK(fold.result(other) == fold.result(state));
  };
  check(count_distinct<&Bid::bidder>());
  check(top<&Bid::price>(5));
  check(collect<&Bid::price>(Joined{}));
  check(average<&Bid::price>());
}

TEST_CASE("an average is exact but for one rounding", "[runtime][aggregate]") {
  const auto price = average<&Bid::price>();
  CHECK(folded(price, {{1, ""}, {2, ""}}) == 1.5);
  CHECK(folded(price, {{-7, ""}}) == -7.0);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(folded(price, {{most, ""}, {most, ""}, {-most, ""}, {-most, ""}, {1, ""}}) == 0.2);
  CHECK(folded(average([](const Bid& bid) { return bid.price * 2; }), {{1, ""}, {2, ""}}) == 3.0);
}

TEST_CASE("what was merged can be taken out of counts, sums and averages again",
          "[runtime][aggregate]") {
  Draws draws(11);
  const auto bids = some_bids(draws, 60);
  const auto fold = all(count(), sum<&Bid::price>(), average<&Bid::price>());
  static_assert(Subtractable<decltype(fold)>);
  static_assert(!Subtractable<decltype(all(count(), maximum<&Bid::price>()))>);
  static_assert(!Subtractable<decltype(top<&Bid::price>(1))>);
  for (std::size_t cut = 0; cut < bids.size(); ++cut) {
    StateOf<std::decay_t<decltype(fold)>> first{};
    StateOf<std::decay_t<decltype(fold)>> second{};
    for (std::size_t i = 0; i < bids.size(); ++i) {
      fold.add(i <= cut ? first : second, fold.pick(bids[i]));
    }
    auto whole = first;
    fold.merge(whole, second);
    fold.subtract(whole, second);
    CHECK(fold.result(whole) == fold.result(first));
  }
}
