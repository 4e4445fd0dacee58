#include "random_input.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace millrace::properties {
namespace {

constexpr Site has_old_times{"random_job.has_old_times"};
constexpr Site partition_count{"random_job.partitions"};
constexpr Site share{"random_job.share"};
constexpr Site record_count{"random_job.records"};
constexpr Site is_large{"random_job.is_large"};
constexpr Site how_dense{"random_job.density"};
constexpr Site head_start{"random_job.head_start"};
constexpr Site next_time{"random_job.time"};
constexpr Site jumps{"random_job.jumps"};
constexpr Site is_behind{"random_job.is_behind"};
constexpr Site how_far_behind{"random_job.behind"};
constexpr Site which_text{"random_job.text"};
constexpr Site which_integer{"random_job.integer"};
constexpr Site which_real{"random_job.real"};
constexpr Site is_absent{"random_job.is_absent"};
constexpr Site is_bad{"random_job.is_bad"};
constexpr Site which_bad{"random_job.bad"};
constexpr Site has_more{"random_job.has_more"};
constexpr Site line_ends{"random_job.line_ends"};
constexpr Site is_blank{"random_job.is_blank"};
constexpr Site lacks_newline{"random_job.lacks_newline"};
constexpr Site has_bom{"random_job.has_bom"};
constexpr Site how_fine{"random_job.fine"};

/// Keys, most of them often.
constexpr std::string_view texts[] = {"a",
                                      "b",
                                      "c",
                                      "a",
                                      "b",
                                      "",
                                      " ",
                                      "Z\\u00fcrich",
                                      "it's",
                                      "\\\"quoted\\\"",
                                      "aa",
                                      "0",
                                      "a key that is too long to be held in place"};
/// So small that no sum of fewer than 90,000 records overflows.
constexpr std::string_view integers[] = {
    "0", "1", "-1", "2", "3", "7", "-5", "100000000000000", "-100000000000000"};
/// Numbers whose sum depends on the order in which doubles are added.
constexpr std::string_view reals[] = {"0",     "-0", "0.1", "0.2",    "-0.3",  "1e16",
                                      "-1e16", "1",  "3.5", "5e-324", "1e300", "-1e300"};

/// What is no record of this job.
constexpr std::string_view bad_lines[] = {"what?",
                                          "[1, 2]",
                                          "{",
                                          R"({"k": "a", "m": 1})",
                                          R"({"t": "soon", "k": "a", "m": 1})",
                                          R"({"t": 1, "t": 2, "k": "a", "m": 1})",
                                          R"({"t": 1, "k": 5, "m": 1})",
                                          R"({"t": 1.5, "k": "a", "m": 1})",
                                          R"({"t": 999999999999999999, "k": "a", "m": 1})"};

/// As cells, all in quotes.
constexpr std::string_view csv_texts[] = {"a",
                                          "b",
                                          "c",
                                          "a",
                                          "b",
                                          "",
                                          " ",
                                          "Z\xC3\xBCrich",
                                          "it's",
                                          "\"\"quoted\"\", and more",
                                          "aa",
                                          "0",
                                          "a key that is too long to be held in place"};
static_assert(std::size(csv_texts) == std::size(texts));

constexpr std::string_view csv_header = "n,k,more,t,\"x\",m";
constexpr std::string_view bad_csv_lines[] = {
    "what?",           "1,\"a\",,1,1,1,1", "1,\"a\",,1,1",
    ",\"a\",,soon,,1", ",\"a,,1,,1",       ",\"a\"b,,1,,1",
    ",a\"b,,1,,1",     ",\"a\",,1.5,,1",   ",\"a\",,999999999999999999,,1",
    "7x,\"a\",,1,,1",  ",\"a\",,1,1e999,1"};

class Records {
 public:
  Records(const RandomFacts& facts, const RandomScope& scope, sim::Draws& draws)
      : facts_(facts), scope_(scope), draws_(draws) {}

  Input input() {
    const std::uint64_t partitions = 1 + draws_.below(partition_count, scope_.partitions);
    std::vector<std::uint64_t> shares;
    std::uint64_t whole = 0;
    for (std::uint64_t i = 0; i < partitions; ++i) {
      shares.push_back(draws_.below(share, 8));  // One in eight has nothing.
      whole += shares.back();
    }
    begin_ = draws_.hits(has_old_times, {1, 8}) ? -5 * facts_.window - 1 : 1'600'000'000'000;
    // Many jobs are so small that one sees at once what they do.
    const std::uint64_t most = draws_.below(record_count, scope_.records + 1);
    const std::uint64_t records = draws_.hits(is_large, {3, 4}) ? most : most / 8;
    Input input;
    for (std::uint64_t i = 0; i < partitions; ++i) {
      const std::uint64_t lines = whole == 0 ? 0 : records * shares[i] / whole;
      add_partition(i, lines, input);
    }
    // A source without any file is none.
    for (std::uint64_t i = partitions; i < facts_.sources.size(); ++i) add_partition(i, 0, input);
    std::sort(input.partitions.begin(), input.partitions.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return input;
  }

 private:
  template <std::size_t Count>
  std::string_view one_of(Site site, const std::string_view (&values)[Count]) {
    return values[draws_.below(site, Count)];
  }

  /// The sources take turns.
  void add_partition(std::uint64_t number, std::uint64_t lines, Input& input) {
    const RandomSource& source = facts_.sources[number % facts_.sources.size()];
    const std::string directory = source.name.empty() ? "" : source.name + "/";
    input.partitions.push_back(
        {fmt::format("{}p{}.jsonl", directory, number), partition(lines, source.is_csv), ""});
  }

  std::string partition(std::uint64_t lines, bool is_csv) {
    newest_ = begin_ + static_cast<std::int64_t>(
                           draws_.below(head_start, static_cast<std::uint64_t>(3 * facts_.window)));
    per_window_ = 1 + draws_.below(how_dense, 8);
    const std::string_view end = draws_.hits(line_ends, {1, 8}) ? "\r\n" : "\n";
    std::string text = draws_.hits(has_bom, {1, 16}) && lines != 0 ? "\xEF\xBB\xBF" : "";
    if (is_csv && lines != 0) text.append(csv_header).append(end);
    for (std::uint64_t i = 0; i < lines; ++i) {
      if (draws_.hits(is_blank, {1, 32})) text += end;
      text += facts_.is_patient && draws_.hits(is_bad, {1, 10}) ? bad_line(is_csv)
              : is_csv                                          ? csv_record()
                                                                : record();
      text += end;
    }
    if (draws_.hits(lacks_newline, {1, 4}) && !text.empty()) text.resize(text.size() - end.size());
    return text;
  }

  std::string record() {
    std::string line =
        fmt::format(R"({{"t": {}, "k": {}, "m": {})", written_time(), key_text(), key_number());
    if (draws_.hits(has_more, {1, 16})) line += R"(, "more": [1, {"t": null}])";
    if (!absent()) line += fmt::format(R"(, "n": {})", one_of(which_integer, integers));
    if (!absent()) line += fmt::format(R"(, "x": {})", one_of(which_real, reals));
    return line + "}";
  }

  /// The same as cells, in the order of the header.
  std::string csv_record() {
    std::string line(absent() ? "" : one_of(which_integer, integers));
    const bool has_key = !facts_.has_null_keys || !absent();
    line += has_key ? fmt::format(",\"{}\"", one_of(which_text, csv_texts)) : ",";
    line += draws_.hits(has_more, {1, 16}) ? ",\"more, \"\"or less\"\"\"," : ",,";
    line += std::to_string(written_time()) + ",";
    if (!absent()) line += one_of(which_real, reals);
    const bool has_number = !facts_.has_null_keys || !absent();
    return line.append(",").append(has_number ? one_of(which_integer, integers) : "");
  }

  std::string bad_line(bool is_csv) {
    return std::string(is_csv ? one_of(which_bad, bad_csv_lines) : one_of(which_bad, bad_lines));
  }

  /// As the job's records write it.
  std::int64_t written_time() {
    const std::int64_t ms = time();
    if (facts_.format == "us")
      return ms * 1000 + static_cast<std::int64_t>(draws_.below(how_fine, 1000));
    return facts_.format == "s" ? ms / 1000 : ms;
  }

  std::int64_t time() {
    const auto mean = static_cast<std::uint64_t>(facts_.window) / per_window_;
    newest_ += static_cast<std::int64_t>(draws_.below(next_time, 2 * mean + 2));
    if (draws_.hits(jumps, {1, 16})) newest_ += 4 * facts_.window;
    if (!draws_.hits(is_behind, {1, 2})) return newest_;
    const std::int64_t most = facts_.disorder + (facts_.has_late ? 2 * facts_.window : 0);
    return newest_ - static_cast<std::int64_t>(
                         draws_.below(how_far_behind, static_cast<std::uint64_t>(most) + 1));
  }

  std::string key_text() {
    if (facts_.has_null_keys && absent()) return "null";
    return fmt::format("\"{}\"", one_of(which_text, texts));
  }

  std::string key_number() {
    if (facts_.has_null_keys && absent()) return "null";
    return std::string(one_of(which_integer, integers));
  }

  bool absent() { return draws_.hits(is_absent, {1, 6}); }

  const RandomFacts& facts_;
  const RandomScope& scope_;
  sim::Draws& draws_;
  std::int64_t begin_ = 0;        ///< Of the input.
  std::int64_t newest_ = 0;       ///< Time of the partition.
  std::uint64_t per_window_ = 1;  ///< So many records of a partition, about.
};

}  // namespace

Input random_input(const RandomFacts& facts, const RandomScope& scope, sim::Draws& draws) {
  return Records(facts, scope, draws).input();
}

}  // namespace millrace::properties
