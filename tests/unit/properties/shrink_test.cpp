#include "millrace/properties/shrink.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "calm_run.hpp"
#include "small_job.hpp"

using namespace millrace;
using namespace millrace::properties;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;

/// A case of 1,000 records in three partitions and four faults, which nobody runs.
Case large_case() {
  Case made;
  made.job = spec_of(SmallJob{});
  int number = 0;
  for (const auto& [name, lines] :
       {std::pair{"p.jsonl", 600}, {"q.jsonl", 300}, {"r.jsonl", 100}}) {
    InputPartition partition = partition_of(name, {});
    for (int i = 0; i < lines; ++i) partition.text += "line " + std::to_string(number++) + "\n";
    partition.origin = std::string("data/") + name;
    made.input.partitions.push_back(partition);
  }
  made.cluster = {3, 4};
  made.arrival = 2535ms;
  made.checkpoint.interval = 169ms;
  made.seed = 77;
  for (const char* fault : {"kill node=worker1 at='published nth=5' down=300ms",
                            "power_loss node=store at=1700ms down=2s",
                            "pause node=worker3 at='took_over nth=2' lasts=6112ms",
                            "kill node=log at='sink_staged role=sink.* term=2 n=3' down=20ms"}) {
    made.plan.faults.push_back(faults::parse_fault(fault));
  }
  made.build = "the build that saw it";
  made.trace_hash = 1234;
  return made;
}

bool has_line(const Case& scenario, const std::string& line) {
  return std::any_of(scenario.input.partitions.begin(), scenario.input.partitions.end(),
                     [&](const InputPartition& partition) {
                       return ("\n" + partition.text).find("\n" + line + "\n") != std::string::npos;
                     });
}

bool has_fault(const Case& scenario, std::string_view kind, std::string_view node) {
  return std::any_of(scenario.plan.faults.begin(), scenario.plan.faults.end(),
                     [&](const faults::Fault& fault) {
                       return faults::kind_of(fault) == kind && faults::node_of(fault) == node;
                     });
}

Texts fault_texts(const Case& scenario) {
  Texts texts;
  for (const faults::Fault& fault : scenario.plan.faults) texts.push_back(to_text(fault));
  return texts;
}

std::string text_of(const Case& scenario) {
  return to_text(scenario, {}, [](const std::string& origin) { return origin; });
}

using Fails = std::function<bool(const Case&)>;

bool always(const Case&) { return true; }

/// The 4,000 draws of a run that nobody made: 40 entities at 5 sites.
std::vector<sim::Drawn> many_draws(const Case&) {
  std::vector<sim::Drawn> draws;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::uint64_t place = i % 200;
    draws.push_back({{place % 5 == 0 ? sim::Domain::product : sim::Domain::world,
                      "site" + std::to_string(place % 5), "task" + std::to_string(place / 5), 0,
                      i / 200, 700 + i},
                     100'000});
  }
  return draws;
}

/// The value of a draw of the world in a quiet case.
std::uint64_t chosen(const Case& scenario, const std::string& site, const std::string& entity,
                     std::uint64_t draw) {
  for (const sim::Choice& choice : scenario.choices) {
    if (choice.domain == sim::Domain::world && choice.site == site && choice.entity == entity &&
        choice.draw == draw) {
      return choice.value;
    }
  }
  return 0;
}

Texts choice_texts(const Case& scenario) {
  Texts texts;
  for (const sim::Choice& choice : scenario.choices) texts.push_back(to_text(choice));
  return texts;
}

ShrinkOptions with_draws() {
  ShrinkOptions options;
  options.draws_of = many_draws;
  return options;
}

}  // namespace

TEST_CASE("a case that fails whatever is in it becomes the smallest there is", "[shrink]") {
  const Shrunk shrunk = shrink(large_case(), always);

  CHECK(shrunk.end == Shrunk::End::smallest);
  CHECK(shrunk.smallest.plan.faults.empty());
  CHECK(shrunk.smallest.input.lines() == 0);
  CHECK(shrunk.smallest.input.partitions.size() == 1);
  CHECK(shrunk.smallest.cluster == ClusterShape{1, 1});
  CHECK(shrunk.smallest.arrival == 0ns);
  CHECK(shrunk.smallest.is_quiet);
  CHECK(shrunk.smallest.seed == 0);
  CHECK(shrunk.runs < 20);
}

TEST_CASE("exactly what a failure needs is left of a case", "[shrink]") {
  const Fails fails = [](const Case& scenario) {
    return has_fault(scenario, "power_loss", "store") && has_line(scenario, "line 17") &&
           has_line(scenario, "line 60") && has_line(scenario, "line 950");
  };
  const Shrunk shrunk = shrink(large_case(), fails);

  CHECK(shrunk.end == Shrunk::End::smallest);
  CHECK(fault_texts(shrunk.smallest) == Texts{"power_loss node=store at=1ms down=1ms"});
  CHECK(shrunk.smallest.input == Input{{partition_of("p.jsonl", {"line 17", "line 60"}),
                                        partition_of("r.jsonl", {"line 950"})}});
  CHECK(shrunk.smallest.cluster == ClusterShape{1, 1});
  CHECK(shrunk.smallest.is_quiet);
  CHECK(shrunk.runs < 200);
}

TEST_CASE("a case that cannot be smaller stays as it is, but for what was seen of it", "[shrink]") {
  const Case whole = large_case();
  const Shrunk shrunk = shrink(whole, [](const Case&) { return false; }, {100'000, {}});

  Case same = whole;
  same.build.clear();
  same.trace_hash.reset();
  CHECK(shrunk.end == Shrunk::End::smallest);
  CHECK(text_of(shrunk.smallest) == text_of(same));
  // What lost nothing is still the beginning of a file.
  CHECK(shrunk.smallest.input.partitions[0].origin == "data/p.jsonl");
}

TEST_CASE("shrinking what was shrunk changes nothing", "[shrink]") {
  const Fails fails = [](const Case& scenario) {
    return scenario.input.lines() >= 7 && scenario.cluster.workers >= 2 &&
           has_fault(scenario, "pause", "worker3") == (scenario.cluster.workers == 3) &&
           scenario.arrival >= 300ms && !scenario.is_quiet;
  };
  REQUIRE(fails(large_case()));
  const Shrunk once = shrink(large_case(), fails);
  const Shrunk twice = shrink(once.smallest, fails);

  CHECK(once.smallest.input.lines() == 7);
  CHECK(once.smallest.arrival == 500ms);
  CHECK_FALSE(once.smallest.is_quiet);
  CHECK(text_of(twice.smallest) == text_of(once.smallest));
  CHECK(twice.runs < once.runs);
}

TEST_CASE("what one step makes possible, an earlier step does in the next round", "[shrink]") {
  // The fault is needed while there is more than one worker, and any draw while there is input.
  const Fails fails = [](const Case& scenario) {
    return (scenario.cluster.workers == 1 || has_fault(scenario, "pause", "worker3") ||
            has_fault(scenario, "pause", "worker1")) &&
           (!scenario.is_quiet || scenario.input.lines() == 0);
  };
  const Shrunk shrunk = shrink(large_case(), fails);

  CHECK(shrunk.smallest.plan.faults.empty());
  CHECK(shrunk.smallest.cluster.workers == 1);
  CHECK(shrunk.smallest.is_quiet);
}

TEST_CASE("a failure of one seed may go on under another when there is less input", "[shrink]") {
  const Fails fails = [](const Case& scenario) {
    const std::uint64_t seed = scenario.input.lines() > 600 ? 77 : 2;
    return !scenario.is_quiet && scenario.seed == seed && has_line(scenario, "line 5");
  };
  REQUIRE(fails(large_case()));
  const Shrunk shrunk = shrink(large_case(), fails);

  CHECK(shrunk.smallest.seed == 2);
  CHECK(shrunk.smallest.input.lines() == 1);
}

TEST_CASE("a quiet case of few lines stays quiet, were it less otherwise", "[shrink]") {
  const Fails fails = [](const Case& scenario) {
    return scenario.input.lines() >= (scenario.is_quiet ? 10 : 3);
  };
  const Shrunk shrunk = shrink(large_case(), fails);

  CHECK(shrunk.smallest.is_quiet);
  CHECK(shrunk.smallest.input.lines() == 10);
}

TEST_CASE("the draws that a failure needs become choices, and its seed goes", "[shrink][choice]") {
  const Fails fails = [](const Case& scenario) {
    if (!has_line(scenario, "line 5")) return false;
    if (!scenario.is_quiet) return scenario.seed == 77;
    return chosen(scenario, "site1", "task7", 3) >= 5 &&
           chosen(scenario, "site4", "task33", 12) > 0;
  };
  REQUIRE(fails(large_case()));
  const Shrunk shrunk = shrink(large_case(), fails, with_draws());

  CHECK(shrunk.end == Shrunk::End::smallest);
  CHECK(shrunk.smallest.is_quiet);
  CHECK(shrunk.smallest.seed == 0);
  CHECK(choice_texts(shrunk.smallest) == Texts{"world site=site1 entity=task7 draw=3 value=10",
                                               "world site=site4 entity=task33 draw=12 value=1"});
  CHECK(shrunk.smallest.input.lines() == 1);
  CHECK(shrunk.smallest.plan.faults.empty());
  CHECK(shrunk.runs < 300);
}

TEST_CASE("a failure that needs many draws keeps its seed", "[shrink][choice]") {
  const Fails fails = [](const Case& scenario) {
    const auto of_site_2 =
        std::count_if(scenario.choices.begin(), scenario.choices.end(),
                      [](const sim::Choice& choice) { return choice.site == "site2"; });
    return has_line(scenario, "line 5") &&
           (scenario.is_quiet ? of_site_2 > 40 : scenario.seed == 77);
  };
  const Shrunk shrunk = shrink(large_case(), fails, with_draws());

  CHECK_FALSE(shrunk.smallest.is_quiet);
  CHECK(shrunk.smallest.seed == 77);
  CHECK(shrunk.smallest.choices.empty());
  CHECK(shrunk.smallest.input.lines() == 1);
}

TEST_CASE("a quiet failure has no choices", "[shrink][choice]") {
  std::uint64_t times = 0;
  ShrinkOptions options;
  options.draws_of = [&](const Case& scenario) {
    ++times;
    return many_draws(scenario);
  };
  CHECK(shrink(large_case(), always, options).smallest.choices.empty());
  CHECK(times == 0);
}

TEST_CASE("choices of a case that nothing needs go", "[shrink][choice]") {
  Case made = large_case();
  made.is_quiet = true;
  for (const sim::Drawn& drawn : many_draws(made)) {
    if (made.choices.size() < 30) made.choices.push_back(drawn.choice);
  }
  const sim::Choice needed = made.choices[11];
  const Shrunk shrunk = shrink(made, [&](const Case& scenario) {
    return std::any_of(scenario.choices.begin(), scenario.choices.end(),
                       [&](const sim::Choice& choice) {
                         return choice.site == needed.site && choice.entity == needed.entity;
                       });
  });
  sim::Choice lowered = needed;
  lowered.value = 1;
  CHECK(shrunk.smallest.choices == std::vector<sim::Choice>{lowered});
}

TEST_CASE("the runs that look for choices count, and end with the others", "[shrink][choice]") {
  std::uint64_t times = 0;
  ShrinkOptions options;
  options.draws_of = [&](const Case& scenario) {
    ++times;
    return many_draws(scenario);
  };
  const Fails fails = [&](const Case& scenario) {
    ++times;
    return !scenario.is_quiet || chosen(scenario, "site1", "task7", 3) > 0;
  };
  const std::uint64_t all = shrink(large_case(), fails, options).runs;
  CHECK(times == all);
  for (const std::uint64_t most : {std::uint64_t{20}, all - 1}) {
    options.most_runs = most;
    times = 0;
    const Shrunk shrunk = shrink(large_case(), fails, options);
    CHECK(times == most);
    CHECK(shrunk.end == Shrunk::End::out_of_runs);
    CHECK(fails(shrunk.smallest));
  }
}

TEST_CASE("a fault that must hit a narrow gap moves to where it needs less input", "[shrink]") {
  // Where it is, it needs many records to hit one; behind the rows, three will do.
  const Fails fails = [](const Case& scenario) {
    if (scenario.plan.faults.size() != 1) return false;
    const auto* at = std::get_if<Anchor>(&faults::moment_of(scenario.plan.faults[0]));
    if (at == nullptr) return false;
    if (at->landmark == "checkpoint_triggered") return scenario.input.lines() >= 48;
    return at->landmark == "rows_written" && scenario.input.lines() >= 3;
  };
  Case made = large_case();
  made.plan.faults = {
      faults::parse_fault("disk_error node=database at='checkpoint_triggered nth=2' lasts=3609ms")};
  REQUIRE(fails(made));
  const Shrunk shrunk = shrink(made, fails);

  CHECK(fault_texts(shrunk.smallest) ==
        Texts{"disk_error node=database at='rows_written' lasts=1ms"});
  CHECK(shrunk.smallest.input.lines() == 3);
}

TEST_CASE("a fault is as long as it was while the input is cut", "[shrink]") {
  const Fails fails = [](const Case& scenario) {
    if (scenario.plan.faults.size() != 1) return false;
    const auto* pause = std::get_if<faults::Pause>(&scenario.plan.faults[0]);
    if (pause == nullptr) return false;
    // A short one must fall between two of many records.
    return scenario.input.lines() >= (pause->lasts < 1s ? 300 : 4);
  };
  Case made = large_case();
  made.plan.faults = {faults::parse_fault("pause node=worker3 at='took_over nth=2' lasts=6112ms")};
  REQUIRE(fails(made));
  const Shrunk shrunk = shrink(made, fails);

  CHECK(shrunk.smallest.input.lines() == 4);
  CHECK(fault_texts(shrunk.smallest) == Texts{"pause node=worker1 at='took_over' lasts=1s"});
}

TEST_CASE("options that a failure does not need are as they are by default", "[shrink]") {
  Case made = large_case();
  made.checkpoint.min_pause = 50ms;
  made.checkpoint.timeout = 2s;
  made.checkpoint.tolerable_failures = 0;
  made.checkpoint.retained = 4;
  made.restart.strategy = RestartOptions::Strategy::fixed;
  made.restart.delay = 80ms;
  made.restart.max_delay = 3s;
  made.restart.attempts = 77;
  made.restart.within = 20s;
  const Case plain = shrink(made, always).smallest;
  CHECK(plain.checkpoint.interval == 169ms);
  CHECK(setting_text(plain).find("[checkpoint]") == std::string::npos);
  CHECK(setting_text(plain).find("[restart]") == std::string::npos);

  const Case smallest =
      shrink(made, [](const Case& scenario) {
        return scenario.checkpoint.tolerable_failures == 0 &&
               scenario.restart.within == std::optional<std::chrono::nanoseconds>(20s);
      }).smallest;
  const std::string setting = setting_text(smallest);
  CHECK(setting.find("\n[checkpoint]\ntolerable_failures = 0\n\n[restart]\nwithin = \"20s\"\n") !=
        std::string::npos);
}

TEST_CASE("no case is asked for twice, and none without a worker or a partition", "[shrink]") {
  std::set<std::string> asked{text_of(large_case())};
  std::uint64_t times = 0;
  const Shrunk shrunk = shrink(large_case(), [&](const Case& scenario) {
    ++times;
    Case plain = scenario;
    CHECK(asked.insert(text_of(plain)).second);
    CHECK(scenario.cluster.workers >= 1);
    CHECK(scenario.cluster.parallelism >= 1);
    CHECK_FALSE(scenario.input.partitions.empty());
    CHECK(scenario.checkpoint.interval == 169ms);
    // A fault of a worker that is gone would be one of a node that is not there.
    for (const faults::Fault& fault : scenario.plan.faults) {
      if (faults::node_of(fault) == "worker3") CHECK(scenario.cluster.workers == 3);
    }
    return has_line(scenario, "line 400") && scenario.plan.faults.size() >= 2;
  });
  CHECK(shrunk.runs == times);
  CHECK(shrunk.smallest.input.lines() == 1);
  CHECK(shrunk.smallest.plan.faults.size() == 2);
}

TEST_CASE("lines keep their order, and a last one without a newline has none", "[shrink]") {
  Case made = large_case();
  made.input = {{InputPartition{"p.jsonl", "a\nb\n\nc\nd", "data/p.jsonl"}}};
  std::vector<std::string> kept;
  const Shrunk shrunk = shrink(made, [&](const Case& scenario) {
    const std::string& text = scenario.input.partitions[0].text;
    kept.push_back(text);
    return text.find('b') != std::string::npos && text.find('d') != std::string::npos;
  });
  CHECK(shrunk.smallest.input.partitions[0].text == "b\nd");
  CHECK(shrunk.smallest.input.partitions[0].origin.empty());
  for (const std::string& text : kept) {
    std::string letters;
    std::copy_if(text.begin(), text.end(), std::back_inserter(letters),
                 [](char c) { return c != '\n'; });
    CHECK(std::is_sorted(letters.begin(), letters.end()));
    if (!letters.empty()) CHECK((text.back() == '\n') == (letters.back() != 'd'));
  }
}

TEST_CASE("a search ends when its runs are used up, with what it has", "[shrink]") {
  const Fails fails = [](const Case& scenario) { return has_line(scenario, "line 333"); };
  const std::uint64_t all = shrink(large_case(), fails).runs;
  for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{10}, all - 1}) {
    const Shrunk shrunk = shrink(large_case(), fails, {most, {}});
    CHECK(shrunk.runs == most);
    CHECK(shrunk.end == Shrunk::End::out_of_runs);
    CHECK(fails(shrunk.smallest));
  }
  CHECK(shrink(large_case(), fails, {all, {}}).end == Shrunk::End::smallest);
}

TEST_CASE("a search that is stopped keeps the smallest case so far", "[shrink]") {
  const Fails fails = [](const Case& scenario) { return has_line(scenario, "line 333"); };
  Texts steps;
  std::uint64_t last_lines = 1000;
  ShrinkOptions options;
  options.progress = [&](const ShrinkProgress& known) {
    if (steps.empty() || steps.back() != known.step) steps.emplace_back(known.step);
    CHECK(known.smallest.input.lines() <= last_lines);
    last_lines = known.smallest.input.lines();
    return last_lines > 100;
  };
  const Shrunk shrunk = shrink(large_case(), fails, options);

  CHECK(shrunk.end == Shrunk::End::stopped);
  CHECK(shrunk.smallest.input.lines() == last_lines);
  CHECK(last_lines <= 100);
  CHECK(last_lines > 1);
  CHECK(steps == Texts{"plan", "draws", "input"});
}

TEST_CASE("equal answers lead to the same case by the same way", "[shrink]") {
  const auto way = [](Texts& asked) {
    return shrink(large_case(), [&](const Case& scenario) {
      asked.push_back(text_of(scenario));
      return has_line(scenario, "line 8") && has_line(scenario, "line 711");
    });
  };
  Texts first;
  Texts second;
  CHECK(text_of(way(first).smallest) == text_of(way(second).smallest));
  CHECK(first == second);
}

TEST_CASE("faults at instants come sooner when the input does", "[shrink]") {
  // The store must die in the last tenth of the input.
  const Fails fails = [](const Case& scenario) {
    if (scenario.plan.faults.size() != 1) return false;
    const auto* at = std::get_if<Instant>(&faults::moment_of(scenario.plan.faults[0]));
    return at != nullptr && at->ns * 10 >= scenario.arrival.count() * 9 &&
           at->ns <= scenario.arrival.count() && at->ns > 0;
  };
  Case made = large_case();
  made.plan.faults = {faults::parse_fault("kill node=store at=2500ms down=1ms")};
  REQUIRE(fails(made));
  const Shrunk shrunk = shrink(made, fails);
  CHECK(shrunk.smallest.arrival == 1ms);
  REQUIRE(fails(shrunk.smallest));
}

TEST_CASE("failures are the same by their verdict and by who speaks first", "[shrink]") {
  Outcome breached;
  breached.verdict = Verdict::breached;
  breached.breaches = {{"visibility", "12 rows"}, {"rows", "13 rows"}};
  CHECK(failure_of(breached) == Failure{Verdict::breached, "visibility"});
  breached.breaches.front().what = "another text";
  CHECK(failure_of(breached) == Failure{Verdict::breached, "visibility"});
  breached.breaches.erase(breached.breaches.begin());
  CHECK(failure_of(breached) == Failure{Verdict::breached, "rows"});

  Outcome violated;
  violated.verdict = Verdict::violated;
  violated.breaches = {{"visibility", "12 rows"},
                       {"invariants", "a term (or owner) only grows (runtime/a.cpp:12)"}};
  CHECK(failure_of(violated) == Failure{Verdict::violated, "a term (or owner) only grows"});

  Outcome refused;
  refused.verdict = Verdict::refused;
  refused.reason = "sink_ahead: the sink shows 1.4";
  CHECK(failure_of(refused) == Failure{Verdict::refused, "sink_ahead"});

  Outcome failed;
  failed.verdict = Verdict::failed;
  failed.reason = "p.jsonl:12: this is not JSON";
  CHECK(failure_of(failed) == Failure{Verdict::failed, ""});
  CHECK(failure_of(Outcome{}) == Failure{});
}

TEST_CASE("a run that fails at a bad record shrinks to that record, and to no fault", "[shrink]") {
  Input input;
  for (const char* name : {"p.jsonl", "q.jsonl"}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 100; ++i) lines.push_back(record(i % 2 == 0 ? "a" : "b", i * 50));
    input.partitions.push_back(partition_of(name, lines));
  }
  input.partitions[1].text += "what?\n";
  // A reference refuses such input, so the processor reads what its reference does not know of.
  Subject subject(spec_of(SmallJob{}), input_of({record("a", 0)}));
  const auto outcome_of = [&](const Case& scenario) {
    subject.input = scenario.input;
    return run(scenario, subject);
  };
  subject.input = input;
  const Case whole = case_of(
      subject, {"kill node=worker1 at='took_over' down=50ms", "pause node=store at=200ms lasts=1s",
                "power_loss node=log at='barrier_injected nth=3' down=10ms"});
  const Failure failure = failure_of(outcome_of(whole));
  REQUIRE(failure.verdict == Verdict::failed);

  const Shrunk shrunk = shrink(
      whole, [&](const Case& candidate) { return failure_of(outcome_of(candidate)) == failure; });

  CHECK(shrunk.end == Shrunk::End::smallest);
  CHECK(shrunk.smallest.plan.faults.empty());
  CHECK(shrunk.smallest.input == Input{{partition_of("q.jsonl", {"what?"})}});
  CHECK(shrunk.smallest.cluster == ClusterShape{1, 1});
  CHECK(outcome_of(shrunk.smallest).reason.starts_with("q.jsonl:1: "));
}
