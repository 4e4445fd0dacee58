#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <catch2/catch.hpp>

#include "corpus_subject.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::uint64_t all_records = 1'000'000;

/// What stands behind `"name":` in a line, up to the next comma or the end. Enough for these files,
/// which are written by one program, and nothing of the reference's.
std::string value_in(const std::string& line, const std::string& name) {
  const auto begin = line.find("\"" + name + "\":") + name.size() + 3;
  return line.substr(begin, line.find_first_of(",}", begin) - begin);
}

/// Visits every line of an input.
template <class Visit>
void each_line(const Input& input, Visit visit) {
  for (const InputPartition& partition : input.partitions) {
    std::size_t begin = 0;
    while (begin < partition.text.size()) {
      const auto end = partition.text.find('\n', begin);
      visit(partition.text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
}

struct HourFacts {
  std::int64_t count = 0;
  std::optional<double> largest;
};
using Hours = std::map<std::pair<std::string, std::int64_t>, HourFacts>;  // Key and window start.

Hours count_hours(const Input& input, const std::string& key, const std::string& time) {
  Hours hours;
  each_line(input, [&](const std::string& line) {
    const std::int64_t ms = std::stoll(value_in(line, time));
    std::string name = value_in(line, key);
    name = name.substr(1, name.size() - 2);  // Without the quotes.
    HourFacts& hour = hours[{name, ms / hour_ms * hour_ms}];
    ++hour.count;
    const std::string magnitude = value_in(line, "magnitude");
    if (magnitude != "null") {
      const double value = std::stod(magnitude);
      hour.largest = hour.largest ? std::max(*hour.largest, value) : value;
    }
  });
  return hours;
}

std::int64_t integer(const OwnedCell& cell) { return std::get<std::int64_t>(cell); }

struct Largest {
  std::string key;
  std::int64_t start = 0;
  std::int64_t count = 0;
};

/// Sums of a reference's rows: their counts, and the row that counts the most.
std::pair<std::int64_t, Largest> sums_of(const Reference& reference) {
  std::int64_t sum = 0;
  Largest largest;
  for (const auto& row : reference.rows()) {
    const std::int64_t count = integer(row.cells[3]);
    sum += count;
    if (count > largest.count) {
      largest = {std::get<std::string>(row.cells[0]), integer(row.cells[1]), count};
    }
  }
  return {sum, largest};
}

}  // namespace

TEST_CASE("the reference of the quakes has what an independent count has", "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("quakes", all_records);
  const Reference& reference = subject.reference();

  CHECK(reference.records() == 1707);
  CHECK(reference.rows().size() == 850);
  CHECK(reference.is_exact());
  const auto [sum, largest] = sums_of(reference);
  CHECK(sum == 1707);
  CHECK(largest.key == "nn");
  CHECK(largest.start == 1517677200000);
  CHECK(largest.count == 10);
}

TEST_CASE("the reference of the feed has what an independent count has", "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("quakes_feed", all_records);
  const Reference& reference = subject.reference();

  CHECK(reference.records() == 1707);
  CHECK(reference.rows().size() == 189);
  CHECK(reference.is_exact());
  const auto [sum, largest] = sums_of(reference);
  CHECK(sum == 1707);
  CHECK(largest.key == "earthquake");
  CHECK(largest.start == 1517853600000);
  CHECK(largest.count == 44);
}

TEST_CASE("every row of the quakes is what a search through the text finds",
          "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("quakes", all_records);
  const Hours hours = count_hours(subject.input, "network", "time");

  REQUIRE(subject.reference().rows().size() == hours.size());
  for (const auto& row : subject.reference().rows()) {
    const auto found = hours.find({std::get<std::string>(row.cells[0]), integer(row.cells[1])});
    REQUIRE(found != hours.end());
    CHECK(integer(row.cells[2]) == integer(row.cells[1]) + hour_ms);
    CHECK(integer(row.cells[3]) == found->second.count);
    const OwnedCell largest =
        found->second.largest ? OwnedCell(*found->second.largest) : OwnedCell();
    CHECK(row.cells[4] == largest);
  }
}

TEST_CASE("every row of the feed is what a search through the text finds", "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("quakes_feed", all_records);
  const Hours hours = count_hours(subject.input, "kind", "updated");

  REQUIRE(subject.reference().rows().size() == hours.size());
  for (const auto& row : subject.reference().rows()) {
    const auto found = hours.find({std::get<std::string>(row.cells[0]), integer(row.cells[1])});
    REQUIRE(found != hours.end());
    CHECK(integer(row.cells[3]) == found->second.count);
  }
}

TEST_CASE("rows of the quakes that were counted by hand", "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("quakes", all_records);
  const auto rows = rows_of(subject.reference());
  const auto has = [&](const std::string& row) {
    return std::find(rows.begin(), rows.end(), row) != rows.end();
  };

  // The only record of its network.
  CHECK(
      has("network=se, window_start=1517882400000, window_end=1517886000000, count=1, "
          "max_magnitude=0.54"));
  // 1.3, 1.6, 1.3 and 3.8.
  CHECK(
      has("network=ak, window_start=1517421600000, window_end=1517425200000, count=4, "
          "max_magnitude=3.8"));
  // -0.3 and -0.1.
  CHECK(
      has("network=nn, window_start=1517504400000, window_end=1517508000000, count=2, "
          "max_magnitude=-0.1"));
  // 0, 0.4, 0.1, 0.7, -0.2, 0.9, 0.6, 0.2, 0.1 and 0.6.
  CHECK(
      has("network=nn, window_start=1517677200000, window_end=1517680800000, count=10, "
          "max_magnitude=0.9"));
  CHECK_FALSE(
      has("network=nn, window_start=1517677200000, window_end=1517680800000, count=9, "
          "max_magnitude=0.9"));
}

TEST_CASE("the join of the corpus pairs what an independent count does", "[properties][corpus]") {
  const Subject subject = tests::corpus_subject("after_strong_quakes", all_records);

  CHECK(subject.records() == 1707 + 85);
  REQUIRE(subject.tables.size() == 2);
  CHECK(subject.tables[0].reference.rows().size() == 58);
  CHECK(subject.tables[1].reference.rows().size() == 46);
  for (const SubjectTable& table : subject.tables) {
    CHECK(table.reference.is_exact());
    CHECK(table.reference.knows_progress());
  }
}

TEST_CASE("no hour of the quakes is complete before the end, those of the feed are all along",
          "[properties][corpus]") {
  for (const auto& [job, least] : {std::pair{"quakes", 0}, {"quakes_feed", 100}}) {
    const Subject subject = tests::corpus_subject(job, all_records);
    std::vector<Claim> almost;
    for (const InputPartition& partition : subject.input.partitions) {
      almost.push_back({partition.name, static_cast<std::int64_t>(partition.text.size()), false});
    }
    std::vector<Claim> all = almost;
    for (Claim& claim : all) claim.ended = true;
    CAPTURE(job);
    // One short partition holds everything back until it ends.
    for (std::size_t i = 0; i < almost.size(); ++i) {
      if (subject.input.partitions[i].text.size() < 30'000) almost[i].ended = true;
    }
    CHECK(subject.reference().visible_rows(almost) >= static_cast<std::size_t>(least));
    if (least == 0) CHECK(subject.reference().visible_rows(almost) == 0);
    CHECK(subject.reference().visible_rows(all) == subject.reference().rows().size());
  }
}
