#include "millrace/runtime/job/layout.hpp"

#include <catch2/catch.hpp>

#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "damage.hpp"

using namespace millrace;
using namespace std::chrono_literals;

namespace {

struct Bid {
  std::int64_t auction = 0;
  std::int64_t price = 0;
  std::int64_t at = 0;
};

Source<Bid> bids_at(std::string address) {
  Source<Bid> source;
  source.kind = "none";
  source.address = std::move(address);
  source.open = [](Env&, const std::string&, Position, std::int64_t) {
    return std::unique_ptr<SourceReader<Bid>>();
  };
  return source;
}

template <class T>
Sink<T> table(std::string name) {
  TableSchema schema;
  schema.table = std::move(name);
  return staged_table<T>("test.db", schema, [](const T&, CellWriter&) {});
}

auto bids(std::string name = "bids") {
  return from(name, bids_at("bids/*"))
      .event_time([](const Bid& bid) { return EventTime{bid.at}; }, disorder(1s));
}
auto per_auction(std::string name = "per_auction") {
  return bids().key_by<&Bid::auction>().window(tumbling(1s)).aggregate(name, count());
}
using Count = Windowed<std::int64_t, std::int64_t>;

std::vector<std::string> names_of(const ChainLayout& chain) {
  std::vector<std::string> names;
  for (const StageLayout& stage : chain.stages) names.push_back(stage.node->name);
  return names;
}
std::vector<int> parents_of(const ChainLayout& chain) {
  std::vector<int> parents;
  for (const StageLayout& stage : chain.stages) parents.push_back(stage.parent);
  return parents;
}
std::vector<std::string> names_of(const Job& job) {
  std::vector<std::string> names;
  for (const Node* node : job.nodes()) names.push_back(node->name);
  return names;
}

using Names = std::vector<std::string>;
using Numbers = std::vector<int>;

std::string complaint_of(std::function<void()> make) {
  return message_of<UsageError>(std::move(make));
}

}  // namespace

TEST_CASE("a job is all that its ends reach, each operator behind those it reads",
          "[runtime][job]") {
  const Job job("counts", per_auction().to("table", table<Count>("t")));

  CHECK(job.name() == "counts");
  CHECK(job.ends().size() == 1);
  CHECK(names_of(job) == Names{"bids", "", "per_auction", "table"});
  CHECK(job.nodes()[0]->role == Node::Role::source);
  CHECK(job.nodes()[0]->address == "bids/*");
  CHECK(job.nodes()[1]->role == Node::Role::steps);
  CHECK(job.nodes()[2]->role == Node::Role::keyed);
  CHECK(job.nodes()[2]->inputs[0].dealt == Node::Dealt::by_key);
  CHECK(job.nodes()[3]->role == Node::Role::sink);
  REQUIRE(job.nodes()[3]->sink.has_value());
  CHECK(job.nodes()[3]->sink->name == "table");
  CHECK(job.nodes()[3]->sink->database == "test.db");
}

TEST_CASE("a flow that is used twice runs its steps twice and its source once", "[runtime][job]") {
  const auto flow = bids().filter([](const Bid& bid) { return bid.price > 0; });
  const Job job("two", flow.to("a", table<Bid>("a")), flow.to("b", table<Bid>("b")));

  CHECK(names_of(job) == Names{"bids", "", "a", "", "b"});
}

TEST_CASE("a stream that is used twice runs its steps once", "[runtime][job]") {
  const Stream<Bid> stream = bids().filter([](const Bid& bid) { return bid.price > 0; });
  const Job job("two", stream.to("a", table<Bid>("a")), stream.to("b", table<Bid>("b")));

  CHECK(names_of(job) == Names{"bids", "", "a", "b"});
}

TEST_CASE("a job needs a name, an end, and operators of one name each", "[runtime][job]") {
  CHECK(complaint_of([] { Job("", bids().to("a", table<Bid>("a"))); }) == "a job needs a name");
  CHECK(complaint_of([] { Job("empty", std::vector<End>{}); }) == "job `empty` ends in no sink");
  CHECK(complaint_of([] {
          Job("two", bids("x").to("a", table<Bid>("a")), bids("y").to("a", table<Bid>("b")));
        }) == "job `two`: two operators are called `a`");
  CHECK(complaint_of([] { Job("two", bids("a").to("a", table<Bid>("a"))); }) ==
        "job `two`: two operators are called `a`");
  // Two sources of one name are two operators, though they read the same.
  CHECK(complaint_of([] {
          Job("two", bids().to("a", table<Bid>("a")), bids().to("b", table<Bid>("b")));
        }) == "job `two`: two operators are called `bids`");
}

TEST_CASE("an operator's name is of letters, digits, _ and -", "[runtime][job]") {
  for (const std::string name : {"a", "A-1_b", "7"}) {
    CHECK(complaint_of([&] { Job("j", bids().to(name, table<Bid>("t"))); }).empty());
  }
  for (const std::string name : {"", "a b", "a.b", "a/b", "gr\xC3\xBC"}) {
    CHECK(complaint_of([&] { Job("j", bids().to(name, table<Bid>("t"))); }) ==
          "job `j`: an operator is called `" + name +
              "`; letters, digits, `_` and `-` are expected");
  }
}

TEST_CASE("a fingerprint tells operators by name, kind and what they give", "[runtime][job]") {
  const auto fingerprint = [](const auto& stream) {
    return Job("j", stream.to("table", table<Count>("t"))).fingerprint();
  };
  const auto parts = fingerprint(per_auction());
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == FingerprintPart{"bids", "source"});
  CHECK(parts[1].key == "per_auction");
  CHECK(parts[1].value.find("keyed ") == 0);
  CHECK(parts[2] == FingerprintPart{"table", "sink"});
  CHECK(fingerprint(per_auction()) == parts);
  CHECK(fingerprint(per_auction("other")) != parts);

  // Other results, another shape.
  const auto sums = bids()
                        .key_by<&Bid::auction>()
                        .window(tumbling(1s))
                        .aggregate("per_auction", all(count(), sum<&Bid::price>()));
  using Sums = Windowed<std::int64_t, std::tuple<std::int64_t, std::int64_t>>;
  const Job other("j", sums.to("table", table<Sums>("t")));
  CHECK(other.fingerprint()[1].value != parts[1].value);

  Job named("j", per_auction().to("table", table<Count>("t")));
  named.set_fingerprint({{"version", "2"}});
  CHECK(named.fingerprint() == std::vector<FingerprintPart>{{"version", "2"}});
}

TEST_CASE("with one subtask a job is one task", "[runtime][layout]") {
  const Job job("counts", per_auction().to("table", table<Count>("t")));
  const Layout layout = plan_layout(job, 1);

  REQUIRE(layout.chains.size() == 1);
  const ChainLayout& chain = layout.chains[0];
  CHECK(chain.name == "bids");
  CHECK(names_of(chain) == Names{"bids", "", "per_auction", "table"});
  CHECK(parents_of(chain) == Numbers{-1, 0, 1, 2});
  CHECK(chain.is_source());
  CHECK(chain.lanes() == 0);
  CHECK(layout.task_count() == 1);
}

TEST_CASE("with several subtasks rows are exchanged before a keyed operator, and only there",
          "[runtime][layout]") {
  const Job job("counts", per_auction().to("table", table<Count>("t")));
  for (const int parallelism : {2, 3, 128}) {
    const Layout layout = plan_layout(job, parallelism);

    REQUIRE(layout.chains.size() == 2);
    CHECK(names_of(layout.chains[0]) == Names{"bids", ""});
    CHECK(layout.chains[0].is_source());
    const ChainLayout& windows = layout.chains[1];
    CHECK(windows.name == "per_auction");
    CHECK(names_of(windows) == Names{"per_auction", "table"});
    CHECK(parents_of(windows) == Numbers{-1, 0});
    REQUIRE(windows.inputs.size() == 1);
    CHECK(windows.inputs[0].from == 0);
    CHECK(windows.inputs[0].from_stage == 1);
    CHECK(windows.inputs[0].first_lane == 0);
    CHECK(windows.inputs[0].rows == job.nodes()[1]->outputs[0]);
    CHECK(windows.lanes() == parallelism);
    CHECK(layout.task_count() == 2 * static_cast<std::size_t>(parallelism));
    CHECK(layout.parallelism == parallelism);
  }
}

TEST_CASE("two windows behind one source are two exchanges of it", "[runtime][layout]") {
  const auto flow = bids();
  const auto counts = [&](const char* name) {
    return flow.key_by<&Bid::auction>().window(tumbling(1s)).aggregate(name, count());
  };
  const Job job("two", counts("a").to("table_a", table<Count>("a")),
                counts("b").to("table_b", table<Count>("b")));

  const Layout one = plan_layout(job, 1);
  REQUIRE(one.chains.size() == 1);
  CHECK(names_of(one.chains[0]) == Names{"bids", "", "a", "table_a", "", "b", "table_b"});
  CHECK(parents_of(one.chains[0]) == Numbers{-1, 0, 1, 2, 0, 4, 5});

  const Layout two = plan_layout(job, 2);
  REQUIRE(two.chains.size() == 3);
  CHECK(names_of(two.chains[0]) == Names{"bids", "", ""});
  CHECK(parents_of(two.chains[0]) == Numbers{-1, 0, 0});
  CHECK(two.chains[1].name == "a");
  CHECK(two.chains[1].inputs[0].from_stage == 1);
  CHECK(two.chains[2].name == "b");
  CHECK(two.chains[2].inputs[0].from_stage == 2);
}

TEST_CASE("a window behind a window is exchanged again", "[runtime][layout]") {
  const auto twice = per_auction()
                         .key_by([](const Count& row) { return row.value; })
                         .window(tumbling(2s))
                         .aggregate("per_count", count());
  const Job job("twice", twice.to("table", table<Count>("t")));

  const Layout layout = plan_layout(job, 2);
  REQUIRE(layout.chains.size() == 3);
  CHECK(names_of(layout.chains[1]) == Names{"per_auction", ""});
  CHECK(layout.chains[2].inputs[0].from == 1);
  CHECK(layout.chains[2].inputs[0].from_stage == 1);
  CHECK(plan_layout(job, 1).chains.size() == 1);
}

TEST_CASE("merged streams meet at one port, and cost no task of their own", "[runtime][layout]") {
  const Stream<Bid> one = bids("one");
  const Stream<Bid> other = bids("other").filter([](const Bid& bid) { return bid.price > 0; });
  const auto merged = merge<Bid>({one, other});
  const auto counts = merged.key_by<&Bid::auction>().window(tumbling(1s)).aggregate("n", count());
  const Job job("merged", counts.to("counts", table<Count>("c")),
                merged.to("all", table<Bid>("a")));

  const Layout layout = plan_layout(job, 2);
  REQUIRE(layout.chains.size() == 4);  // Two sources, the windows, and a sink.
  const ChainLayout& windows = layout.chains[2];
  CHECK(windows.name == "n");
  REQUIRE(windows.inputs.size() == 2);
  CHECK(windows.lanes() == 4);
  for (int i = 0; i < 2; ++i) {
    const EdgeLayout& edge = windows.inputs[static_cast<std::size_t>(i)];
    CHECK(edge.from == i);
    CHECK(edge.port == 0);
    CHECK_FALSE(edge.is_straight);
    CHECK(edge.lane_from(1) == 2 * i + 1);
    CHECK(&windows.edge_of(2 * i + 1) == &edge);
  }
  // Straight rows have one lane: from one's own subtask.
  const ChainLayout& sink = layout.chains[3];
  CHECK(sink.name == "all");
  REQUIRE(sink.inputs.size() == 2);
  CHECK(sink.lanes() == 2);
  CHECK(sink.inputs[1].is_straight);
  CHECK(sink.inputs[1].lane_from(0) == 1);
  CHECK(sink.inputs[1].lane_from(1) == 1);
  // With one subtask as well, because two tasks put into them.
  CHECK(plan_layout(job, 1).chains.size() == 4);
}

TEST_CASE("the subtasks of a chain go around the workers", "[runtime][layout]") {
  const Job job("counts", per_auction().to("table", table<Count>("t")));
  const Layout layout = plan_layout(job, 3);

  CHECK(assign_workers(layout, 1) == std::vector<Numbers>{{0, 0, 0}, {0, 0, 0}});
  CHECK(assign_workers(layout, 2) == std::vector<Numbers>{{0, 1, 0}, {0, 1, 0}});
  CHECK(assign_workers(layout, 5) == std::vector<Numbers>{{0, 1, 2}, {0, 1, 2}});
}

TEST_CASE("a task is called after its chain and its subtask", "[runtime][layout]") {
  CHECK(task_name("per_auction", 12) == "per_auction.12");
}
