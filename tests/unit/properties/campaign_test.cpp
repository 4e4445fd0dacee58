#include "millrace/properties/campaign.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "campaign_wire.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;

namespace {

/// Runs children one after the other in this process, and dies for them if told to.
class FakeWorkers final : public Workers {
 public:
  void run(int count, const Child& child, const OnLine& on_line, const OnEnd& on_end,
           const OnTick& on_tick) override {
    counts.push_back(count);
    for (int index = 0; index < count; ++index) {
      while (true) {
        const ChildEnd end = live(index, child, on_line, on_tick);
        if (is_stopped_) return;
        if (!on_end(end)) break;
        ++restarts;
      }
    }
  }

  /// Runs that kill their process whenever it says that it is at them, and how.
  std::set<std::uint64_t> deadly;
  std::set<std::uint64_t> deadly_later;  ///< The same in the second pass only.
  ChildEnd death{0, 0, 6};
  /// Called for every line of the second pass; may change it.
  std::function<void(std::string&)> change_second;

  std::vector<int> counts;  ///< Of children, call by call.
  int restarts = 0;
  std::vector<std::string> lines;

 private:
  struct Died {};
  struct Stopped {};

  ChildEnd live(int index, const Child& child, const OnLine& on_line, const OnTick& on_tick) {
    ChildEnd end = death;
    end.index = index;
    try {
      end = {index,
             child(index,
                   [&](std::string_view said) {
                     std::string line(said);
                     if (counts.size() == 2 && change_second) change_second(line);
                     lines.push_back(line);
                     on_line(index, line);
                     if (is_deadly(line)) throw Died{};
                     if (!on_tick()) throw Stopped{};
                   }),
             0};
    } catch (const Died&) {
    } catch (const Stopped&) {
      is_stopped_ = true;
    }
    return end;
  }

  bool is_deadly(const std::string& line) const {
    if (line[0] != '@') return false;
    const std::uint64_t index = std::stoull(line.substr(1));
    return deadly.contains(index) || (counts.size() == 2 && deadly_later.contains(index));
  }

  bool is_stopped_ = false;
};

Input small_input() {
  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) lines.push_back(record(i % 2 == 0 ? "a" : "b", i * 200));
  return input_of(lines);
}

const Subject& small_subject() {
  static const Subject subject(spec_of(SmallJob{}), small_input());
  return subject;
}

/// A subject whose reference was made for another input: every run is a breach.
Subject wrong_subject() {
  Subject subject(spec_of(SmallJob{}), small_input());
  Input other = small_input();
  other.partitions[0].text.replace(other.partitions[0].text.find("\"a\""), 3, "\"x\"");
  subject.tables[0].reference = Reference(subject.spec, other);
  return subject;
}

bool go_on(const CampaignReport&) { return true; }

CampaignReport campaign(FakeWorkers& workers, const CampaignOptions& options,
                        const Subject& subject = small_subject()) {
  return run_campaign(subject, options, workers, go_on);
}

CampaignOptions options_of(std::uint64_t seeds, int jobs = 1) {
  CampaignOptions options;
  options.seeds = seeds;
  options.jobs = jobs;
  return options;
}

/// What a campaign of these runs must report, by running them here.
CampaignReport by_hand(const Subject& subject, std::uint64_t seeds,
                       const std::set<std::uint64_t>& without = {},
                       std::uint64_t campaign_seed = 1) {
  sim::StackPool stacks;
  CampaignReport report;
  for (std::uint64_t i = 0; i < seeds; ++i) {
    if (without.contains(i)) continue;
    const std::uint64_t seed = run_seed(campaign_seed, i);
    const Case scenario = generate_case(subject, seed);
    const Outcome outcome = run_case(scenario, subject, stacks);
    ++report.runs;
    ++report.verdicts[static_cast<std::size_t>(outcome.verdict)];
    report.planned += scenario.plan.faults.size();
    report.unfired += outcome.unfired.size();
    report.checkpoints.add(outcome.statistics.checkpoints);
    report.publishes.add(outcome.statistics.publishes);
    report.totals.records += outcome.statistics.records;
    report.totals.checkpoints += outcome.statistics.checkpoints;
    report.totals.publishes += outcome.statistics.publishes;
    report.totals.virtual_ns += outcome.statistics.virtual_ns;
    report.totals.events += outcome.statistics.events;
    report.totals.switches += outcome.statistics.switches;
    report.totals.messages += outcome.statistics.messages;
    for (std::size_t k = 0; k < report.totals.firings.size(); ++k) {
      report.totals.firings[k] += outcome.statistics.firings[k];
    }
    for (std::size_t k = 0; k < landmark_count; ++k) {
      report.totals.landmarks[k] += outcome.statistics.landmarks[k];
    }
  }
  return report;
}

void check_sums(const CampaignReport& report, const CampaignReport& expected) {
  CHECK(report.planned == expected.planned);
  CHECK(report.unfired == expected.unfired);
  CHECK(report.checkpoints.counts() == expected.checkpoints.counts());
  CHECK(report.publishes.counts() == expected.publishes.counts());
  CHECK(report.totals.records == expected.totals.records);
  CHECK(report.totals.checkpoints == expected.totals.checkpoints);
  CHECK(report.totals.publishes == expected.totals.publishes);
  CHECK(report.totals.virtual_ns == expected.totals.virtual_ns);
  CHECK(report.totals.events == expected.totals.events);
  CHECK(report.totals.switches == expected.totals.switches);
  CHECK(report.totals.messages == expected.totals.messages);
  CHECK(report.totals.firings == expected.totals.firings);
  CHECK(report.totals.landmarks == expected.totals.landmarks);
}

std::uint64_t count_of(const CampaignReport& report, Verdict verdict) {
  return report.verdicts[static_cast<std::size_t>(verdict)];
}

}  // namespace

TEST_CASE("a campaign sums up its runs, however many processes share them",
          "[properties][campaign]") {
  const CampaignReport expected = by_hand(small_subject(), 24);
  for (const int jobs : {1, 3, 7}) {
    CAPTURE(jobs);
    FakeWorkers workers;
    const CampaignReport report = campaign(workers, options_of(24, jobs));

    CHECK(workers.counts == std::vector<int>{jobs});
    CHECK(report.runs == 24);
    CHECK(report.held() == 24);
    CHECK(report.verdict() == Verdict::held);
    CHECK(report.judges.empty());
    CHECK(report.findings.empty());
    CHECK(report.rows == RowCounts{});
    check_sums(report, expected);
  }
}

TEST_CASE("the seeds of a campaign follow from its own", "[properties][campaign]") {
  FakeWorkers workers;
  CampaignOptions options = options_of(10);
  options.campaign_seed = 2;

  check_sums(campaign(workers, options), by_hand(small_subject(), 10, {}, 2));
}

TEST_CASE("no more processes are started than there are runs", "[properties][campaign]") {
  FakeWorkers workers;
  CHECK(campaign(workers, options_of(2, 8)).runs == 2);
  CHECK(workers.counts == std::vector<int>{2});
  FakeWorkers idle;
  const CampaignReport nothing = campaign(idle, options_of(0, 8));
  CHECK(nothing.runs == 0);
  CHECK(nothing.verdict() == Verdict::held);
  CHECK(nothing.checkpoints.median() == 0);
}

TEST_CASE("runs that do not hold are found, in the order of their seeds",
          "[properties][campaign]") {
  const Subject subject = wrong_subject();
  FakeWorkers workers;
  const CampaignReport report = campaign(workers, options_of(20, 3), subject);

  CHECK(report.runs == 20);
  CHECK(report.held() == 0);
  CHECK(report.verdict() == Verdict::breached);
  CHECK(count_of(report, Verdict::breached) == 20);
  CHECK(report.judges == std::map<std::string, std::uint64_t>{{"visibility", 20}});
  CHECK(report.rows.wrong() >= 20);
  REQUIRE(report.findings.size() == 20);
  std::set<std::uint64_t> seeds;
  std::vector<std::uint64_t> in_order;
  for (std::uint64_t i = 0; i < 20; ++i) seeds.insert(run_seed(1, i));
  for (const Finding& finding : report.findings) in_order.push_back(finding.seed);
  CHECK(in_order == std::vector<std::uint64_t>(seeds.begin(), seeds.end()));
  // What a run said comes over the wire as it was.
  sim::StackPool stacks;
  const Finding& first = report.findings.front();
  const Outcome outcome = run_case(generate_case(subject, first.seed), subject, stacks);
  CHECK(first.outcome.breaches == outcome.breaches);
  CHECK(first.outcome.rows == outcome.rows);
  CHECK(first.outcome.trace_hash == outcome.trace_hash);
  CHECK(first.outcome.unfired == outcome.unfired);
}

TEST_CASE("a process that dies is a verdict about its run, and another goes on behind it",
          "[properties][campaign]") {
  for (const int jobs : {1, 3}) {
    CAPTURE(jobs);
    FakeWorkers workers;
    workers.deadly = {5, 19};
    const CampaignReport report = campaign(workers, options_of(24, jobs));

    CHECK(workers.restarts == 2);
    CHECK(report.runs == 24);
    CHECK(report.held() == 22);
    CHECK(count_of(report, Verdict::crashed) == 2);
    CHECK(report.verdict() == Verdict::crashed);
    CHECK(report.judges == std::map<std::string, std::uint64_t>{{"process", 2}});
    REQUIRE(report.findings.size() == 2);
    CHECK(report.findings[0].seed == std::min(run_seed(1, 5), run_seed(1, 19)));
    CHECK(report.findings[1].seed == std::max(run_seed(1, 5), run_seed(1, 19)));
    CHECK(report.findings[0].outcome.breaches ==
          std::vector<Breach>{{"process", "the process died of signal 6"}});

    // All others count once, also those that the dead had done and not told of.
    CampaignReport expected = by_hand(small_subject(), 24, {5, 19});
    expected.checkpoints.add(0, 2);
    expected.publishes.add(0, 2);
    check_sums(report, expected);
  }
}

TEST_CASE("a process that ends itself has crashed as well", "[properties][campaign]") {
  FakeWorkers workers;
  workers.deadly = {0};
  workers.death = {0, 3, 0};
  const CampaignReport report = campaign(workers, options_of(3));

  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].seed == run_seed(1, 0));
  CHECK(report.findings[0].outcome.breaches ==
        std::vector<Breach>{{"process", "the process ended with code 3"}});
  CHECK(report.runs == 3);
}

TEST_CASE("every run may kill its process, and the campaign ends all the same",
          "[properties][campaign]") {
  FakeWorkers workers;
  workers.deadly = {0, 1, 2, 3, 4, 5};
  const CampaignReport report = campaign(workers, options_of(6, 2));

  CHECK(report.runs == 6);
  CHECK(count_of(report, Verdict::crashed) == 6);
  CHECK(report.findings.size() == 6);
}

TEST_CASE("a second pass that runs the same says nothing and counts nothing",
          "[properties][campaign]") {
  FakeWorkers workers;
  CampaignOptions options = options_of(20, 2);
  options.check_determinism = true;
  const CampaignReport report = campaign(workers, options);

  CHECK(workers.counts == std::vector<int>{2, 2});
  CHECK(report.runs == 20);
  CHECK(report.held() == 20);
  CHECK(report.findings.empty());
  check_sums(report, by_hand(small_subject(), 20));
}

TEST_CASE("the second pass runs in the opposite order, so that no run has the same past",
          "[properties][campaign]") {
  FakeWorkers workers;
  CampaignOptions options = options_of(5, 2);
  options.check_determinism = true;
  CHECK(campaign(workers, options).verdict() == Verdict::held);
  std::vector<std::string> order;
  for (const std::string& line : workers.lines) {
    if (line[0] == '@') order.push_back(line);
  }
  CHECK(order == std::vector<std::string>{"@0", "@2", "@4", "@1", "@3",  //
                                          "@4", "@2", "@0", "@3", "@1"});
}

TEST_CASE("a run that another process runs otherwise is not deterministic",
          "[properties][campaign]") {
  FakeWorkers workers;
  int traces = 0;
  std::string original;
  workers.change_second = [&](std::string& line) {
    if (line[0] != '#' || ++traces != 4) return;
    original = line;
    line = line.substr(0, line.find(' ')) + " 7";
  };
  CampaignOptions options = options_of(6);
  options.check_determinism = true;
  const CampaignReport report = campaign(workers, options);

  CHECK(traces == 6);
  CHECK(report.runs == 6);
  CHECK(report.verdict() == Verdict::nondeterministic);
  CHECK(count_of(report, Verdict::nondeterministic) == 1);
  CHECK(report.judges == std::map<std::string, std::uint64_t>{{"determinism", 1}});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].seed == run_seed(1, 2));  // The fourth of six, from behind.
  std::string hash = original.substr(original.find(' ') + 1);
  hash.insert(0, 16 - hash.size(), '0');
  CHECK(report.findings[0].outcome.breaches ==
        std::vector<Breach>{
            {"determinism", "one process gave the trace hash " + hash +
                                ", another 0000000000000007; alone in a process it runs the "
                                "same again"}});
}

TEST_CASE("a run that killed its process is not tried again for its trace",
          "[properties][campaign]") {
  FakeWorkers workers;
  workers.deadly = {2};
  CampaignOptions options = options_of(5);
  options.check_determinism = true;
  const CampaignReport report = campaign(workers, options);

  CHECK(workers.restarts == 1);
  CHECK(report.runs == 5);
  CHECK(count_of(report, Verdict::crashed) == 1);
  CHECK(count_of(report, Verdict::nondeterministic) == 0);
}

TEST_CASE("a process that dies only in the second pass is told of", "[properties][campaign]") {
  FakeWorkers workers;
  workers.deadly_later = {2};
  CampaignOptions options = options_of(5);
  options.check_determinism = true;
  const CampaignReport report = campaign(workers, options);

  CHECK(report.runs == 5);
  CHECK(count_of(report, Verdict::crashed) == 1);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].seed == run_seed(1, 2));
  CHECK(report.findings[0].outcome.verdict == Verdict::crashed);
}

TEST_CASE("a campaign ends when it is told to", "[properties][campaign]") {
  FakeWorkers workers;
  CampaignOptions options = options_of(100);
  options.check_determinism = true;
  std::vector<std::uint64_t> known;
  const CampaignReport report =
      run_campaign(small_subject(), options, workers, [&](const CampaignReport& so_far) {
        known.push_back(so_far.runs);
        return so_far.runs < 32;
      });

  CHECK(report.runs == 32);
  CHECK(report.held() == 32);
  CHECK(workers.counts == std::vector<int>{1});  // And there is no second pass.
  CHECK(std::is_sorted(known.begin(), known.end()));
  CHECK(known.front() == 0);
}

TEST_CASE("one seed is run alone, and is told of whatever comes of it", "[properties][campaign]") {
  FakeWorkers workers;
  CampaignOptions options = options_of(100, 4);
  options.only_seed = 4711;
  const CampaignReport report = campaign(workers, options);

  CHECK(workers.counts == std::vector<int>{1});
  CHECK(report.runs == 1);
  CHECK(report.held() == 1);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].seed == 4711);
  CHECK(report.findings[0].outcome.verdict == Verdict::held);
  CHECK(report.findings[0].outcome.trace_hash != 0);

  FakeWorkers others;
  const Subject subject = wrong_subject();
  const CampaignReport breached = campaign(others, options, subject);
  REQUIRE(breached.findings.size() == 1);  // And not twice.
  CHECK(breached.findings[0].outcome.verdict == Verdict::breached);
}

TEST_CASE("the verdict of a campaign is the worst of its runs", "[properties][campaign]") {
  const std::vector<Verdict> worst_first{
      Verdict::violated,    Verdict::crashed, Verdict::nondeterministic, Verdict::breached,
      Verdict::no_progress, Verdict::failed,  Verdict::refused};
  CampaignReport report;
  report.verdicts[static_cast<std::size_t>(Verdict::held)] = 1000;
  CHECK(report.verdict() == Verdict::held);
  for (auto verdict = worst_first.rbegin(); verdict != worst_first.rend(); ++verdict) {
    ++report.verdicts[static_cast<std::size_t>(*verdict)];
    CHECK(report.verdict() == *verdict);
  }
}

TEST_CASE("a tally knows the middle of what was counted", "[properties][campaign]") {
  const auto median_of = [](const std::vector<std::uint64_t>& numbers) {
    Tally tally;
    for (const std::uint64_t number : numbers) tally.add(number);
    return tally.median();
  };
  CHECK(median_of({}) == 0);
  CHECK(median_of({7}) == 7);
  CHECK(median_of({9, 1, 5}) == 5);
  CHECK(median_of({1, 2, 3, 4}) == 2);  // The lower one of two.
  CHECK(median_of({0, 0, 0, 100}) == 0);
  CHECK(median_of({3, 100, 100}) == 100);
  Tally sum;
  sum.add(1, 5);
  Tally other;
  other.add(1);
  other.add(2, 7);
  sum.add(other);
  CHECK(sum.counts() == std::map<std::uint64_t, std::uint64_t>{{1, 6}, {2, 7}});
  CHECK(sum.median() == 2);
}

TEST_CASE("a part of a report survives the way from process to process", "[properties][wire]") {
  Outcome outcome;
  outcome.verdict = Verdict::breached;
  outcome.breaches = {{"visibility", "it's \"wrong\"\nin two lines"}, {"rows", ""}};
  outcome.rows = {1, 2, 3, 4, 5};
  outcome.reason = "because";
  outcome.unfired = {"kill node=worker1 at='swept' down=1ms"};
  outcome.trace_hash = 0xFEDCBA9876543210;
  outcome.statistics.checkpoints = 11;
  outcome.statistics.publishes = 7;
  outcome.statistics.virtual_ns = 5'000'000'000'000;
  outcome.statistics.firings = {1, 2, 3};
  outcome.statistics.landmarks.back() = 9;
  CampaignReport part;
  add_outcome(part, 0xFFFFFFFFFFFFF, 4, outcome);
  add_outcome(part, 3, 1, Outcome{});
  const std::string line = to_line(part);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.front() == '{');

  CampaignReport report;
  add_line(report, line);
  add_line(report, line);

  CHECK(report.runs == 4);
  CHECK(count_of(report, Verdict::breached) == 2);
  CHECK(report.held() == 2);
  CHECK(report.judges == std::map<std::string, std::uint64_t>{{"rows", 2}, {"visibility", 2}});
  CHECK(report.rows == RowCounts{2, 4, 6, 8, 10});
  CHECK(report.checkpoints.counts() == std::map<std::uint64_t, std::uint64_t>{{0, 2}, {11, 2}});
  CHECK(report.publishes.median() == 0);
  CHECK(report.unfired == 2);
  CHECK(report.planned == 10);
  CHECK(report.totals.virtual_ns == 10'000'000'000'000);
  CHECK(report.totals.firings == faults::Firings{2, 4, 6});
  CHECK(report.totals.landmarks.back() == 18);
  REQUIRE(report.findings.size() == 2);
  const Finding& finding = report.findings[1];
  CHECK(finding.seed == 0xFFFFFFFFFFFFF);
  CHECK(finding.outcome.verdict == outcome.verdict);
  CHECK(finding.outcome.breaches == outcome.breaches);
  CHECK(finding.outcome.rows == outcome.rows);
  CHECK(finding.outcome.reason == outcome.reason);
  CHECK(finding.outcome.unfired == outcome.unfired);
  CHECK(finding.outcome.trace_hash == outcome.trace_hash);
}

TEST_CASE("bytes that are no text do not stop a report", "[properties][wire]") {
  Outcome outcome;
  outcome.verdict = Verdict::failed;
  outcome.reason = "the record \xFF\xC0 is bad";
  CampaignReport part;
  add_outcome(part, 1, 0, outcome);
  CampaignReport report;
  add_line(report, to_line(part));

  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].outcome.reason.starts_with("the record "));
  CHECK(report.findings[0].outcome.reason.ends_with(" is bad"));
}
