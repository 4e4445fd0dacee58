#include "millrace/properties/random_job.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"
#include "millrace/properties/reference.hpp"
#include "millrace/runtime/job_file.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::uint64_t seeds = 500;

std::string text_of(const RandomJob& job) {
  std::string text = to_toml(job.spec);
  for (const InputPartition& partition : job.input.partitions) text += partition.text;
  return text;
}

}  // namespace

TEST_CASE("a random job is a function of its seed, and seeds differ", "[random_job]") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string text = text_of(random_job(seed));
    CHECK(text == text_of(random_job(seed)));
    texts.insert(text);
  }
  CHECK(texts.size() > seeds * 9 / 10);  // Some are small enough to be equal.
}

TEST_CASE("every random job has a reference, so none fails of its input", "[random_job]") {
  std::uint64_t rows = 0;
  std::uint64_t uncertain = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    const RandomJob job = random_job(seed);
    const Reference reference(job.spec, job.input);
    rows += reference.rows().size();
    if (!reference.is_exact()) ++uncertain;
  }
  CHECK(rows > 10 * seeds);
  CHECK(uncertain > seeds / 50);  // Some records come too late, in few jobs.
  CHECK(uncertain < seeds / 4);
}

TEST_CASE("random jobs have all the edges that they are drawn for", "[random_job]") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomJob job = random_job(seed);
    seen.insert(job.spec.sinks[0].mode == SinkMode::staged ? "staged" : "upsert");
    seen.insert(job.spec.sources[0].on_bad_record == OnBadRecord::skip ? "skips" : "fails");
    seen.insert(job.spec.sources[0].disorder == Duration::zero() ? "in order" : "disorder");
    std::vector<StepSpec> steps = job.spec.steps;
    for (const SourceSpec& source : job.spec.sources) {
      if (source.format == RowFormat::csv) seen.insert("CSV");
    }
    if (job.spec.sources.size() == 2) {
      const bool is_join = std::holds_alternative<JoinSpec>(steps.front().work);
      seen.insert(is_join ? "a join" : "a union");
      steps.erase(steps.begin());
    }
    if (!steps.empty() && steps.back().name == "second") {
      seen.insert("a window behind a window");
      steps.pop_back();
    }
    const bool has_window = !steps.empty() && !is_row_step(steps.back().work);
    if (steps.size() == (has_window ? 3 : 2)) seen.insert("two steps");
    for (const StepSpec& step : steps) {
      if (std::holds_alternative<SetSpec>(step.work)) seen.insert("set");
      if (std::holds_alternative<KeepSpec>(step.work)) seen.insert("keep");
    }
    if (!has_window) {
      seen.insert("no window");
      continue;
    }
    const auto& window = std::get<WindowSpec>(steps.back().work);
    seen.insert("windows of kind " + std::to_string(static_cast<int>(window.shape.kind)));
    if (window.allowed_lateness > Duration::zero()) seen.insert("allowed lateness");
    if (window.top) seen.insert("the largest rows");
    if (window.late) seen.insert("a table of late rows");
    if (window.key.size() == 2) seen.insert("a key of two");
    if (job.spec.sources[0].fields[1].nullable) seen.insert("null keys");
    for (const InputPartition& partition : job.input.partitions) {
      const std::string& text = partition.text;
      if (text.empty()) seen.insert("an empty partition");
      if (text.ends_with("}")) seen.insert("no last newline");
      if (text.ends_with("}\r\n")) seen.insert("CRLF");
      if (text.starts_with("\xEF\xBB\xBF")) seen.insert("BOM");
      if (text.find("\n\n") != std::string::npos) seen.insert("a blank line");
      if (text.find("\"k\": null") != std::string::npos) seen.insert("a null key");
      if (text.find("{\"t\": -") != std::string::npos) seen.insert("before 1970");
      if (text.find("what?") != std::string::npos) seen.insert("no record");
    }
  }
  CHECK(seen.size() == 31);
}

TEST_CASE("a scope bounds the input of a random job, and the job stays the same", "[random_job]") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    const RandomJob small = random_job(seed, {.records = 5, .partitions = 1});
    CHECK(small.input.partitions.size() == small.spec.sources.size());
    CHECK(small.input.lines() <= 5 + 6);  // Blank lines and names of columns come on top.
    CHECK(to_toml(small.spec) == to_toml(random_job(seed).spec));
  }
  CHECK(random_job(1, {.records = 0}).input.lines() == 0);
}

TEST_CASE("what is set of random jobs is not drawn", "[random_job]") {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CHECK(random_job(seed, {.mode = SinkMode::insert}).spec.sinks[0].mode == SinkMode::insert);
    CHECK(random_job(seed, {.mode = SinkMode::upsert}).spec.sinks[0].mode == SinkMode::upsert);
  }
  CHECK(random_job(1, {.settings = {{"sink.table", "other"}}}).spec.sinks[0].table == "other");
  CHECK_THROWS_AS(random_job(1, {.settings = {{"sink.tabel", "other"}}}), UsageError);
}
