#include "millrace/properties/random_job.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/runtime/job/names.hpp"
#include "millrace/runtime/job/toml_section.hpp"
#include "millrace/sim/draws.hpp"

#include "random_graph.hpp"
#include "random_input.hpp"

namespace millrace::properties {
namespace {

constexpr Site which_window{"random_job.window"};
constexpr Site which_format{"random_job.format"};
constexpr Site has_no_window{"random_job.has_no_window"};
constexpr Site has_key{"random_job.has_key"};
constexpr Site which_kind{"random_job.kind"};
constexpr Site which_slide{"random_job.slide"};
constexpr Site has_offset{"random_job.has_offset"};
constexpr Site how_offset{"random_job.offset"};
constexpr Site how_many{"random_job.every"};
constexpr Site has_lateness{"random_job.has_lateness"};
constexpr Site how_lenient{"random_job.lateness"};
constexpr Site keeps_late{"random_job.keeps_late"};
constexpr Site sets{"random_job.sets"};
constexpr Site which_whole{"random_job.whole"};
constexpr Site which_fraction{"random_job.fraction"};
constexpr Site keeps_some{"random_job.keeps"};
constexpr Site filters_again{"random_job.filters_again"};
constexpr Site which_set_comparison{"random_job.set_comparison"};
constexpr Site which_set_fold{"random_job.set_fold"};
constexpr Site counts_distinct{"random_job.counts_distinct"};
constexpr Site which_distinct{"random_job.distinct"};
constexpr Site has_disorder{"random_job.has_disorder"};
constexpr Site how_disordered{"random_job.disorder"};
constexpr Site has_late{"random_job.has_late"};
constexpr Site is_patient{"random_job.is_patient"};
constexpr Site which_key{"random_job.key"};
constexpr Site key_count{"random_job.key_count"};
constexpr Site has_null_keys{"random_job.has_null_keys"};
constexpr Site is_upsert{"random_job.is_upsert"};
constexpr Site filter_count{"random_job.filters"};
constexpr Site how_deep{"random_job.condition"};
constexpr Site which_comparison{"random_job.comparison"};
constexpr Site falls_idle{"random_job.falls_idle"};
constexpr Site which_fold{"random_job.fold"};
constexpr Site fold_count{"random_job.folds"};

constexpr std::string_view windows[] = {"1ms", "7ms", "1s", "1min", "1h", "36h"};
constexpr std::int64_t window_ms[] = {1, 7, 1000, 60'000, 3'600'000, 129'600'000};
static_assert(std::size(windows) == std::size(window_ms));

constexpr std::string_view filters[] = {"k != 'b'",  "k < 'aa'", "m >= 0", "m == 1", "n < 3",
                                        "n >= -0.5", "x > 0.15", "x <= 1", "t >= 0"};

constexpr std::string_view folds[] = {"count()", "count(n)", "count(x)", "sum(n)",
                                      "min(n)",  "max(n)",   "avg(n)",   "sum(x)",
                                      "min(x)",  "max(x)",   "avg(x)",   "max(t)"};

/// Beside those above, so that what these draw stays the same.
constexpr std::string_view distinct_folds[] = {"count_distinct(k)", "count_distinct(m)",
                                               "count_distinct(n)", "count_distinct(x)"};

constexpr std::string_view formats[] = {"ms", "ms", "ms", "ms", "us", "s"};

/// What fits into its type, whatever a record holds.
constexpr std::string_view wholes[] = {"m + n",    "n % 7",  "n / m",    "m - n * 2",
                                       "-n",       "m / 0",  "m",        "(m + 1) % (n + 1)",
                                       "t % 1000", "m % -3", "m * 0 + n"};
constexpr std::string_view fractions[] = {"x * 0.5", "x / 3",   "n * 0.1", "m / 2.5", "x - n",
                                          "x % 0.7", "x / n",   "-x",      "x",       "n + 0.25",
                                          "x / 0",   "n / 7.0", "m * 1e-3"};
constexpr std::string_view set_filters[] = {"u > m",  "u == n", "v < u",     "u * 2 >= n - 1",
                                            "v != x", "u <= t", "not v == n"};
constexpr std::string_view set_folds[] = {"sum(u)", "max(v)", "count(u)",         "min(u)",
                                          "avg(v)", "sum(v)", "count_distinct(v)"};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomScope& scope)
      : scope_(scope), draws_(sim::Seed{seed}, sim::Domain::input, "random_job") {}

  RandomJob make() {
    const std::string text = job_text();
    return {parse_job_file(text, "random", scope_.settings), random_input(facts_, scope_, draws_)};
  }

 private:
  template <std::size_t Count>
  std::string_view one_of(Site site, const std::string_view (&values)[Count]) {
    return values[draws_.below(site, Count)];
  }

  // The job.

  std::string job_text() {
    const std::size_t window = draws_.below(which_window, std::size(windows));
    facts_.window = window_ms[window];
    facts_.format = one_of(which_format, formats);
    if (draws_.hits(has_disorder, {1, 2})) {
      facts_.disorder = static_cast<std::int64_t>(
          1 + draws_.below(how_disordered, static_cast<std::uint64_t>(3 * facts_.window)));
    }
    facts_.has_late = draws_.hits(has_late, {1, 4});
    facts_.is_patient = draws_.hits(is_patient, {1, 4});
    const bool upserts = draws_.hits(is_upsert, {1, 3});
    const SinkMode mode = scope_.mode.value_or(upserts ? SinkMode::upsert : SinkMode::staged);
    // A null tells no rows apart, so it is no key to upsert by.
    facts_.has_null_keys = draws_.hits(has_null_keys, {1, 4}) && mode != SinkMode::upsert;

    std::string steps;
    for (std::uint64_t i = draws_.below(filter_count, 3); i > 0; --i) {
      steps += fmt::format("[[step]]\nfilter = {}\n", toml_quoted(condition(3)));
    }
    const bool has_sets = draws_.hits(sets, {1, 3});
    if (has_sets) steps += set_steps();
    const std::vector<std::string> keys = key();
    std::vector<std::string> columns;
    const std::uint64_t count = 1 + draws_.below(fold_count, 4);
    for (std::uint64_t i = 0; i < count; ++i) {
      columns.push_back(fmt::format("a{} = {}", i, toml_quoted(one_of(which_fold, folds))));
    }
    if (has_sets) {
      columns.push_back(fmt::format("s = {}", toml_quoted(one_of(which_set_fold, set_folds))));
    }
    if (draws_.hits(counts_distinct, {1, 4})) {
      columns.push_back(fmt::format("d = {}", toml_quoted(one_of(which_distinct, distinct_folds))));
    }
    const std::string quoted_keys = fmt::format("{}", fmt::join(keys, ", "));
    const std::string shape = window_shape(windows[window]);
    const bool has_window = !draws_.hits(has_no_window, {1, 8});
    RandomGraph graph(draws_);
    const bool is_told_once = !is_global_ && shape.find("allowed_lateness") == std::string::npos;
    const std::string top = is_told_once ? graph.largest_rows() : "";
    facts_.sources = graph.sources();
    falls_idle_ = draws_.hits(falls_idle, {1, 16});
    steps.insert(0, graph.first_steps(facts_.sources, facts_.window, keys.front()));
    std::string sink_key = quoted_keys;
    if (has_window) sink_key += is_global_ ? ", \"pane\"" : ", \"window_start\"";
    if (!has_window && mode != SinkMode::upsert && draws_.hits(has_key, {1, 2})) sink_key.clear();
    if (has_window) {
      steps += fmt::format(
          "[[step]]\nwindow = {{ {}, key = [{}] }}\n{}\n{}", shape, quoted_keys,
          top.empty() ? fmt::format("aggregate = {{ {} }}", fmt::join(columns, ", ")) : top,
          keeps_late_ ? "late = { table = \"late\" }\n" : "");
      if (!top.empty()) sink_key += ", \"rank\"";
    }
    if (has_window && !is_global_ && top.empty()) {
      const std::string second = graph.second_window(facts_.window, keys.front());
      steps += second;
      if (!second.empty()) sink_key = keys.front() + ", \"window_start\"";
    }
    return fmt::format(
        "[job]\nname = \"random\"\n{}{}[sink]\ntable = \"results\"\ndatabase = \"sink.db\"\n"
        "mode = \"{}\"\nkey = [{}]\n",
        sources_text(), steps, describe(mode), sink_key);
  }

  std::string sources_text() const {
    std::string text;
    for (const RandomSource& source : facts_.sources) {
      text += fmt::format(
          "[source{0}]\nformat = \"{1}\"\nfiles = \"*.jsonl\"\n"
          "fields = {{ t = \"int64\", k = \"string{2}\", m = \"int64{2}\", n = \"int64?\", "
          "x = \"float64?\" }}\n"
          "event_time = \"t\"\nevent_time_format = \"{3}\"\ndisorder = \"{4}ms\"\n"
          "on_bad_record = \"{5}\"\n{6}",
          source.name.empty() ? "" : "s." + source.name, source.is_csv ? "csv" : "jsonl",
          facts_.has_null_keys ? "?" : "", facts_.format, facts_.disorder,
          facts_.is_patient ? "skip" : "fail", falls_idle_ ? "idle_after = \"1s\"\n" : "");
    }
    return text;
  }

  std::string set_steps() {
    std::string steps = fmt::format("[[step]]\nset = {{ u = {}, v = {} }}\n",
                                    toml_quoted(one_of(which_whole, wholes)),
                                    toml_quoted(one_of(which_fraction, fractions)));
    if (draws_.hits(keeps_some, {1, 2})) {
      steps += "[[step]]\nkeep = [\"v\", \"x\", \"k\", \"n\", \"u\", \"t\", \"m\"]\n";
    }
    if (draws_.hits(filters_again, {1, 2})) {
      steps += fmt::format("[[step]]\nfilter = {}\n",
                           toml_quoted(one_of(which_set_comparison, set_filters)));
    }
    return steps;
  }

  /// Half of all windows are tumbling.
  std::string window_shape(std::string_view size) {
    const std::uint64_t kind = draws_.below(which_kind, 8);
    is_global_ = kind == 7;
    if (is_global_) return fmt::format("global = true, every = {}", 1 + draws_.below(how_many, 5));
    std::string shape;
    std::int64_t slide = facts_.window;
    if (kind < 4) {
      shape = fmt::format("tumbling = \"{}\"", size);
    } else if (kind < 6) {
      // Few windows hold a record, and sometimes a slide does not divide the size.
      slide = std::max<std::int64_t>(
          1, facts_.window / static_cast<std::int64_t>(1 + draws_.below(which_slide, 4)));
      shape = fmt::format("sliding = \"{}\", slide = \"{}ms\"", size, slide);
    } else {
      shape = fmt::format("sessions = \"{}\"", size);
    }
    if (kind < 6 && draws_.hits(has_offset, {1, 4})) {
      shape += fmt::format(", offset = \"{}ms\"",
                           draws_.below(how_offset, static_cast<std::uint64_t>(slide)));
    }
    if (draws_.hits(has_lateness, {1, 4})) {
      const auto most = static_cast<std::uint64_t>(2 * facts_.window);
      shape += fmt::format(", allowed_lateness = \"{}ms\"", 1 + draws_.below(how_lenient, most));
    }
    keeps_late_ = draws_.hits(keeps_late, {1, 4});
    return shape;
  }

  std::vector<std::string> key() {
    const bool is_text_first = draws_.below(which_key, 2) == 0;
    const std::string first = is_text_first ? "\"k\"" : "\"m\"";
    if (draws_.below(key_count, 3) != 0) return {first};
    return {first, is_text_first ? "\"m\"" : "\"k\""};
  }

  std::string condition(int depth) {
    const std::uint64_t kind = depth == 0 ? 0 : draws_.below(how_deep, 8);
    if (kind == 5) return "not (" + condition(depth - 1) + ")";
    if (kind >= 6) {
      const std::string left = condition(depth - 1);
      return fmt::format("({} {} {})", left, kind == 6 ? "and" : "or", condition(depth - 1));
    }
    return std::string(one_of(which_comparison, filters));
  }

  const RandomScope& scope_;
  sim::Draws draws_;
  RandomFacts facts_;
  bool is_global_ = false;
  bool keeps_late_ = false;
  bool falls_idle_ = false;
};

}  // namespace

RandomJob random_job(std::uint64_t seed, const RandomScope& scope) {
  return Generator(seed, scope).make();
}

}  // namespace millrace::properties
