// Steps of a job file that make rows of rows.

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job_file.hpp"

#include "damage.hpp"

using namespace millrace;

namespace {

/// The first of `steps` stands on line 8.
std::string job_text(const std::string& steps, const std::string& key = "k") {
  return "[job]\nname = \"s\"\n[source]\nformat = \"jsonl\"\nfiles = \"*.jsonl\"\n"
         "fields = { k = \"string\", t = \"int64\", price = \"int64?\" }\nevent_time = \"t\"\n" +
         steps + "\n[[step]]\nwindow = { tumbling = \"1s\", key = [\"" + key +
         "\"] }\naggregate = { n = \"count()\" }\n[sink]\ntable = \"t\"\ndatabase = \"t.db\"\n";
}
JobSpec parse(const std::string& steps, const std::string& key = "k") {
  return parse_job_file(job_text(steps, key), "s.toml");
}
std::string complaint(const std::string& step) {
  return message_of<UsageError>([&] { parse("[[step]]\n" + step); });
}
std::string fields_text(const JobSpec& spec) {
  std::string text;
  const std::vector<Field> fields = fields_of_rows(spec)[spec.steps.back().inputs.front()];
  for (const Field& field : fields) text += describe(field) + "; ";
  return text;
}

}  // namespace

TEST_CASE("a step sets fields, in place or behind the others", "[runtime][job_file][steps]") {
  CHECK(fields_text(parse(R"([[step]]
set = { euros = "price * 0.5", price = "t % 123", label = "'x'" })")) ==
        "k = string; t = int64; price = int64; euros = float64?; label = string; ");
}

TEST_CASE("a step keeps fields, in its order", "[runtime][job_file][steps]") {
  CHECK(fields_text(parse(R"([[step]]
keep = ["price", "k"])")) == "price = int64?; k = string; ");
}

TEST_CASE("each step sees what those before it have made", "[runtime][job_file][steps]") {
  const JobSpec spec = parse(R"([[step]]
filter = "price > t"
[[step]]
set = { a = "price + 1", b = "price + 2" }
[[step]]
filter = "a < b and a != 5"
[[step]]
keep = ["b", "k"]
[[step]]
set = { b = "-b", c = "b * 2" }
)",
                             "c");
  CHECK(fields_text(spec) == "b = int64?; k = string; c = int64?; ");
  CHECK(parse_job_file(to_toml(spec), "again.toml") == spec);
  CHECK_NOTHROW(build_job(spec));
  std::string said;
  for (const FingerprintPart& part : fingerprint_of(spec)) {
    if (part.key.find(' ') != std::string::npos) said += part.key + ": " + part.value + "\n";
  }
  CHECK(said ==
        "filter 1: price > t\nset 1: a = price + 1, b = price + 2\n"
        "filter 2: a < b and a != 5\nkeep 1: b, k\nset 2: b = -b, c = b * 2\n");
}

TEST_CASE("all fields of a set are worked out from the row as it came",
          "[runtime][job_file][steps]") {
  CHECK(complaint(R"(set = { a = "price", b = "a" })") ==
        "s.toml:9: `step.set.b`: there is no field `a`; the fields are k, t, price");
}

TEST_CASE("what is wrong with a step is said by line and key", "[runtime][job_file][steps]") {
  CHECK(complaint(R"(filter = "k > t")") ==
        "s.toml:9: `filter`: a text in single quotes (`k` is a string) is expected, not `t`");
  CHECK(complaint(R"(set = { a = "k * 2" })") ==
        "s.toml:9: `step.set.a`: `k` is a string, and there is no arithmetic of strings; a number "
        "is expected");
  CHECK(complaint("set = {}") ==
        "s.toml:9: one field or more is expected, such as { total = \"price * count\" }");
  CHECK(complaint("set = { a = 5 }") ==
        "s.toml:9: `step.set.a` is 5; a text in quotes is expected");
  CHECK(complaint("set = 5") == "s.toml:9: `step.set` is 5; a table is expected");
  CHECK(complaint(R"(keep = ["x"])") ==
        "s.toml:9: `step.keep`: there is no field `x`; the fields are k, t, price");
  CHECK(complaint(R"(keep = ["k", "k"])") == "s.toml:9: `step.keep`: `k` stands there twice");
  CHECK(complaint("keep = []") == "s.toml:9: `step.keep`: one field or more is expected");
  const std::string one =
      "a [[step]] has one of `filter`, `set`, `keep`, `join`, and `window` with `aggregate` or "
      "`top`";
  CHECK(complaint("filter = \"t == 1\"\nkeep = [\"k\"]") == "s.toml:8: " + one);
  CHECK(complaint("") == "s.toml:8: " + one);
  std::string many = "set = { ";
  for (int i = 0; i < 62; ++i) many += "f" + std::to_string(i) + " = \"t\", ";
  many.resize(many.size() - 2);
  CHECK(complaint(many + " }") == "s.toml:9: more than 64 fields");
}

namespace {

/// A job without a window; its sink's mode stands on line 13.
std::string plain_text(const std::string& sink) {
  return "[job]\nname = \"p\"\n[source]\nformat = \"jsonl\"\nfiles = \"*.jsonl\"\n"
         "fields = { k = \"string\", t = \"int64\", x = \"float64?\" }\nevent_time = \"t\"\n"
         "[[step]]\nset = { y = \"x * 2\" }\n[sink]\ntable = \"t\"\ndatabase = \"t.db\"\n" +
         sink;
}
std::string plain_complaint(const std::string& sink) {
  return message_of<UsageError>([&] { parse_job_file(plain_text(sink), "p.toml"); });
}

}  // namespace

TEST_CASE("without a window rows go into the sink as the steps leave them",
          "[runtime][job_file][steps]") {
  for (const std::string sink : {"", "mode = \"insert\"", "mode = \"upsert\"\nkey = [\"k\"]"}) {
    CAPTURE(sink);
    const JobSpec spec = parse_job_file(plain_text(sink), "p.toml");
    CHECK(spec.steps.size() == 1);
    CHECK(parse_job_file(to_toml(spec), "again.toml") == spec);
    CHECK_NOTHROW(build_job(spec));
    std::string columns;
    const std::vector<JobTable> tables = tables_of(spec);
    for (const auto& column : tables.front().schema.columns) columns += column.name + " ";
    CHECK(columns == "k t x y ");
  }
}

TEST_CASE("an upsert sink without a window needs a key that is never null",
          "[runtime][job_file][steps]") {
  CHECK(plain_complaint("mode = \"upsert\"") ==
        "p.toml:10: `sink.key` of an upsert sink is empty; the columns are expected by which a row "
        "replaces another");
  CHECK(plain_complaint("mode = \"upsert\"\nkey = [\"k\", \"y\"]") ==
        "p.toml:14: `sink.key` of an upsert sink has `y`, which may be null");
}
