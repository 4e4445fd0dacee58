#include "row_order.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "millrace/runtime/job_file.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Rows pass as they are; they are told apart by `key`.
JobSpec spec_of(const std::string& sink_key) {
  return parse_job_file(R"(
[job]
name = "pass"
[source]
format = "jsonl"
files = "*.jsonl"
fields = { key = "string", n = "int64", time = "int64" }
event_time = "time"
[sink]
table = "rows"
database = "a.db"
key = [)" + sink_key + "]\n",
                        "pass.toml");
}

std::string line(const std::string& key, int n) {
  return "{\"key\":\"" + key + "\",\"n\":" + std::to_string(n) + ",\"time\":" + std::to_string(n) +
         "}\n";
}

Input input() {
  return {{{"a", line("x", 1) + line("y", 2) + line("x", 3), ""},
           {"b", line("x", 4) + line("x", 5), ""}}};
}

OwnedRow row(const std::string& key, std::int64_t n) { return {key, n, n}; }

}  // namespace

TEST_CASE("rows of one key from one partition may stand in its order only",
          "[properties][row_order]") {
  const Reference reference(spec_of("'key'"), input());
  REQUIRE(knows_order(reference));

  const auto is_in_order = [&](const std::vector<OwnedRow>& rows) {
    return !judge_order(reference, rows);
  };
  CHECK(is_in_order({}));
  CHECK(is_in_order({row("x", 1), row("y", 2), row("x", 3), row("x", 4), row("x", 5)}));
  // Between partitions and between keys there is no order.
  CHECK(is_in_order({row("x", 4), row("y", 2), row("x", 1), row("x", 5), row("x", 3)}));
  CHECK_FALSE(is_in_order({row("x", 3), row("y", 2), row("x", 1)}));
  CHECK_FALSE(is_in_order({row("x", 1), row("x", 5), row("x", 3), row("x", 4)}));

  const auto breach = judge_order(reference, {row("x", 3), row("x", 1)});
  REQUIRE(breach);
  CHECK(breach->judge == "order");
  CHECK(breach->what ==
        "of one key and partition a, a row stands before one that was read earlier: key=x, n=3, "
        "time=3; then key=x, n=1, time=1");
}

TEST_CASE("rows that have equals tell nobody where they come from", "[properties][row_order]") {
  const Input twice{{{"a", line("x", 1) + line("x", 2) + line("x", 1), ""}}};
  const Reference reference(spec_of("'key'"), twice);
  CHECK_FALSE(judge_order(reference, {row("x", 1), row("x", 1), row("x", 2)}));
}

TEST_CASE("what windows have folded has no order to be judged", "[properties][row_order]") {
  const JobSpec folded = parse_job_file(R"job(
[job]
name = "count"
[source]
format = "jsonl"
files = "*.jsonl"
fields = { key = "string", n = "int64", time = "int64" }
event_time = "time"
[[step]]
window = { tumbling = "1s", key = ["key"] }
aggregate = { count = "count()" }
[sink]
table = "rows"
database = "a.db"
)job",
                                        "count.toml");
  CHECK_FALSE(knows_order(Reference(folded, input())));
}
