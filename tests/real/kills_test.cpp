#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include "millrace/runtime/landmarks.hpp"

#include "corpus_subject.hpp"
#include "feed_job.hpp"
#include "run_log.hpp"
#include "tool.hpp"

// kill -9 for real, at every moment of the protocol that there is. The anchors are those of the
// simulator; the process that dies, its threads, its files and its database are the user's own.

using namespace millrace;
using namespace millrace::tests;

namespace {

constexpr std::uint64_t records = 300;
/// So many jobs run at once. They wait most of the time, for their input and for the disk.
constexpr std::size_t most_at_once = 8;

/// What one healthy process never comes to: for each of these something beside it has to fail.
const std::set<std::string_view> beyond_one_process{
    landmarks::head_outcome_unknown.name,  // A directory answers every swap.
    landmarks::ownership_lost.name,        // The lock of the directory keeps others out.
    landmarks::restarting.name,            // A failed task or worker.
    landmarks::checkpoint_aborted.name,    // The same, or a checkpoint that takes ten seconds.
    landmarks::publish_unknown.name,       // A commit that meets an error of the disk.
    landmarks::fenced_out.name,            // A committer of an older term that still lives.
    landmarks::write_begun.name,           // A sink that is not staged; they have a case below.
    landmarks::rows_written.name,
};

std::vector<std::string> protocol_landmarks() {
  std::vector<std::string> names;
  for (const Landmark* landmark : landmarks::all) {
    if (landmark->kind == Landmark::Kind::protocol) names.emplace_back(landmark->name);
  }
  return names;
}

std::vector<std::string> landmarks_of_one_process() {
  std::vector<std::string> names = protocol_landmarks();
  std::erase_if(names, [](const std::string& name) { return beyond_one_process.contains(name); });
  return names;
}

/// Where a process kills itself: the nth time that it reaches a landmark.
struct Kill {
  std::string landmark;
  std::uint64_t nth = 1;
};

std::string to_text(const Kill& kill) { return fmt::format("{} nth={}", kill.landmark, kill.nth); }

/// One start of the job.
struct Life {
  ToolEnd end;
  std::vector<LoggedLandmark> log;
  std::optional<std::size_t> rows_left;  ///< Visible when it was dead, if anybody could look.
};

/// A job that is killed some times, and then left alone.
class Trial {
 public:
  Trial(const properties::Subject& subject, std::vector<Kill> kills)
      : kills_(std::move(kills)), job_(std::make_unique<FeedJob>(subject, 2)) {}

  bool is_over() const { return lives_.size() > kills_.size(); }

  void start() {
    const bool is_last = lives_.size() == kills_.size();
    Tool::Words words{"run", "job.toml", "--log", log_file()};
    // The last one is left to itself, and need not wait.
    if (!is_last) words.insert(words.end(), {"--rate", "200"});
    running_ =
        std::make_unique<Tool>(job_->directory(), words,
                               is_last ? Tool::Words{} : killed_at(to_text(kills_[lives_.size()])));
  }

  void wait() {
    Life life;
    life.end = running_->wait();
    life.log = read_run_log(job_->directory() + "/" + log_file());
    running_.reset();
    if (life.end.signal == SIGKILL) life.rows_left = look_at_what_is_left();
    lives_.push_back(std::move(life));
  }

  std::string name() const {
    std::vector<std::string> anchors;
    for (const Kill& kill : kills_) anchors.push_back(to_text(kill));
    return fmt::format("killed at {}", fmt::join(anchors, ", then at "));
  }

  const std::vector<Kill>& kills() const { return kills_; }
  const std::vector<Life>& lives() const { return lives_; }
  bool died(std::size_t life) const { return lives_.at(life).end.signal == SIGKILL; }

  /// What was wrong while the job was dead, or is wrong now.
  std::string complaint() const { return complaint_.empty() ? job_->complaint() : complaint_; }

 private:
  std::string log_file() const { return fmt::format("life{}.log", lives_.size() + 1); }

  std::optional<std::size_t> look_at_what_is_left() {
    const auto rows = job_->visible();
    if (!rows) return std::nullopt;
    if (job_->spec().sinks[0].mode != SinkMode::staged) return rows->size();  // It shows parts.
    const std::string found = job_->complaint_about(*rows);
    if (complaint_.empty() && !found.empty()) complaint_ = "while it was dead: " + found;
    return rows->size();
  }

  std::vector<Kill> kills_;
  std::unique_ptr<FeedJob> job_;
  std::unique_ptr<Tool> running_;
  std::vector<Life> lives_;
  std::string complaint_;
};

std::vector<Trial> try_all(const std::vector<std::vector<Kill>>& plans,
                           SinkMode mode = SinkMode::staged) {
  const properties::Subject subject = corpus_subject("quakes_feed", records, mode);
  std::vector<Trial> trials;
  for (const auto& kills : plans) trials.emplace_back(subject, kills);
  for (std::size_t first = 0; first < trials.size(); first += most_at_once) {
    const auto batch =
        std::span(trials).subspan(first, std::min(most_at_once, trials.size() - first));
    while (!std::ranges::all_of(batch, &Trial::is_over)) {
      for (Trial& trial : batch) {
        if (!trial.is_over()) trial.start();
      }
      for (Trial& trial : batch) {
        if (!trial.is_over()) trial.wait();
      }
    }
  }
  for (const Trial& trial : trials) {
    INFO(trial.name());
    INFO(trial.lives().back().end.output << trial.lives().back().end.errors);
    CHECK(trial.lives().back().end.exit_code == 0);
    CHECK(trial.complaint() == "");
  }
  return trials;
}

/// A process dies at its anchor if it gets there, and else it finishes its job.
void check_life(const Trial& trial, std::size_t index) {
  const Kill& kill = trial.kills().at(index);
  const Life& life = trial.lives().at(index);
  const bool reached = count_of(life.log, kill.landmark) >= kill.nth;
  INFO(trial.name() << ", life " << index + 1);
  INFO(life.end.output << life.end.errors);
  CHECK(trial.died(index) == reached);
  if (!reached) CHECK(life.end.exit_code == 0);
}

}  // namespace

TEST_CASE("a job killed where it first reaches any moment of the protocol shows each row once",
          "[real]") {
  std::vector<std::vector<Kill>> plans;
  for (const std::string& name : landmarks_of_one_process()) plans.push_back({{name, 1}});

  for (const Trial& trial : try_all(plans)) {
    check_life(trial, 0);
    INFO(trial.name());
    CHECK(trial.died(0));  // Else no healthy process gets there, and it belongs into the list.
  }
}

TEST_CASE("a job killed where it reaches a moment for the third time shows each row once",
          "[real]") {
  std::vector<std::vector<Kill>> plans;
  for (const std::string& name : landmarks_of_one_process()) plans.push_back({{name, 3}});

  std::size_t killed = 0;
  for (const Trial& trial : try_all(plans)) {
    check_life(trial, 0);
    if (trial.died(0)) ++killed;
  }
  // Some moments come once in the life of a process; those of a checkpoint come again and again.
  CHECK(killed >= 20);
}

TEST_CASE("an upsert sink killed before and behind its writes shows each row once in the end",
          "[real]") {
  const std::vector<std::vector<Kill>> plans{{{"write_begun", 1}},
                                             {{"write_begun", 5}},
                                             {{"rows_written", 1}},
                                             {{"rows_written", 7}},
                                             {{"rows_written", 3}, {"write_begun", 2}},
                                             {{"head_swapped", 3}, {"rows_written", 4}}};
  for (const Trial& trial : try_all(plans, SinkMode::upsert)) {
    INFO(trial.name());
    for (std::size_t life = 0; life < trial.kills().size(); ++life) CHECK(trial.died(life));
  }
}

TEST_CASE("a job killed amid a checkpoint and again while it recovers shows each row once",
          "[real]") {
  // Rows are staged and not decided; decided and not published; published and not reported.
  const std::vector<Kill> first{{"sink_staged", 3},  {"acknowledged", 5},  {"manifest_written", 2},
                                {"head_swapped", 4}, {"publish_begun", 2}, {"publish_sent", 3},
                                {"published", 2}};
  const std::vector<std::string> recovery{"took_over",     "sink_fenced",   "sinks_recovered",
                                          "task_restored", "tasks_running", "swept"};
  std::vector<std::vector<Kill>> plans;
  for (std::size_t i = 0; i < first.size(); ++i) {
    plans.push_back({first[i], {recovery[i % recovery.size()], 1}});
    plans.push_back({first[i], {recovery[(i + 3) % recovery.size()], 1}, {"head_swapped", 2}});
  }

  for (const Trial& trial : try_all(plans)) {
    INFO(trial.name());
    for (std::size_t life = 0; life < trial.kills().size(); ++life) CHECK(trial.died(life));
  }
}

TEST_CASE("what one life has decided and not shown, the next one shows before all else", "[real]") {
  // The first dies inside the transaction that would have shown the rows, the second right behind
  // its recovery, before it has read anything.
  std::vector<std::vector<Kill>> plans;
  for (std::uint64_t nth = 2; nth <= 7; ++nth) {
    plans.push_back({{"publish_sent", nth}, {"republished", 1}});
  }

  std::size_t shown_by_recovery = 0;
  for (const Trial& trial : try_all(plans)) {
    INFO(trial.name());
    REQUIRE(trial.died(0));
    REQUIRE(trial.died(1));
    const auto before = trial.lives()[0].rows_left;
    const auto after = trial.lives()[1].rows_left;
    if (before && after && *after > *before) ++shown_by_recovery;
  }
  CHECK(shown_by_recovery >= 2);
}

TEST_CASE("a job killed in every one of many lives gets on, and shows each row once", "[real]") {
  std::vector<std::vector<Kill>> plans;
  for (const char* landmark : {"publish_sent", "head_swapped", "stage_begun", "publish_reported"}) {
    plans.push_back(std::vector<Kill>(6, Kill{landmark, 4}));
  }

  for (const Trial& trial : try_all(plans)) {
    for (std::size_t life = 0; life < trial.kills().size(); ++life) check_life(trial, life);
    INFO(trial.name());
    CHECK(trial.died(0));
    CHECK(trial.died(1));
  }
}

TEST_CASE("rows that are lost, doubled or shown too early are noticed", "[real][canary]") {
  const properties::Subject subject = corpus_subject("quakes_feed", records);
  REQUIRE(subject.reference().is_exact());
  const FeedJob job(subject, 2);
  REQUIRE(run_tool_in(job.directory(), {"run", "job.toml"}).exit_code == 0);
  const auto rows = job.visible();
  REQUIRE(rows.has_value());
  REQUIRE(job.complaint_about(*rows) == "");

  auto lost = *rows;
  lost.erase(lost.begin());
  CHECK(job.complaint_about(lost) != "");
  auto doubled = *rows;
  doubled.back() = doubled.front();
  CHECK(job.complaint_about(doubled) != "");
  auto early = *rows;
  std::rotate(early.begin(), early.end() - 1, early.end());
  early.pop_back();
  CHECK(job.complaint_about(early) != "");
}

TEST_CASE("what a healthy process is said not to reach, it does not reach", "[real]") {
  std::vector<std::vector<Kill>> plans;
  for (const auto name : beyond_one_process) plans.push_back({{std::string(name), 1}});

  for (const Trial& trial : try_all(plans)) {
    const std::string& name = trial.kills().front().landmark;
    INFO(name);
    CHECK_FALSE(trial.died(0));
    CHECK(count_of(trial.lives().front().log, name) == 0);
    const auto names = protocol_landmarks();
    CHECK(std::count(names.begin(), names.end(), name) == 1);  // It still is a landmark.
  }
}
