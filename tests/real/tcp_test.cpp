#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "cluster.hpp"
#include "corpus_subject.hpp"
#include "feed_job.hpp"

using namespace millrace;
using namespace millrace::tests;

namespace {

constexpr std::uint64_t records = 300;
constexpr std::uint32_t parallelism = 3;

std::string log_file_of(const FeedJob& job) { return job.directory() + "/run.log"; }

std::set<std::string> nodes_that(const Cluster& cluster, std::string_view landmark) {
  std::set<std::string> nodes;
  for (const LoggedLandmark& one : cluster.log()) {
    if (one.name == landmark) nodes.insert(one.node);
  }
  return nodes;
}

std::string other_than(const std::string& coordinator) {
  return coordinator == Cluster::coordinators[0] ? Cluster::coordinators[1]
                                                 : Cluster::coordinators[0];
}

/// One coordinator leads the job to its end, and the other finds nothing left to do.
void check_end(Cluster& cluster) {
  std::multiset<JobEnd> ends;
  for (const char* name : Cluster::coordinators) {
    const auto end = cluster.wait_for(name);
    INFO(name << ": " << cluster.error());
    REQUIRE(end.has_value());
    ends.insert(*end);
  }
  CHECK(ends == std::multiset<JobEnd>{JobEnd::finished, JobEnd::already_finished});
}

}  // namespace

TEST_CASE("over TCP, on two workers, a job shows each row once", "[real][tcp]") {
  const auto subject = corpus_subject("quakes_feed", records);
  const FeedJob job(subject, parallelism);
  Cluster cluster(job.spec(), log_file_of(job));

  check_end(cluster);

  CHECK(job.complaint() == "");
  // Both had tasks, so rows went from one to the other.
  CHECK(nodes_that(cluster, "task_restored") == std::set<std::string>{"worker1", "worker2"});
}

TEST_CASE("over TCP, a worker that goes away amid the job and comes back costs no row",
          "[real][tcp]") {
  const auto subject = corpus_subject("quakes_feed", records);
  const FeedJob job(subject, parallelism);
  Cluster cluster(job.spec(), log_file_of(job));

  REQUIRE(cluster.run_until_visible(5));
  cluster.end("worker2");
  cluster.start_worker("worker2");
  check_end(cluster);

  CHECK(job.complaint() == "");
  CHECK(count_of(cluster.log(), "restarting") >= 1);
  CHECK(count_of(cluster.log(), "took_over") >= 2);
}

TEST_CASE("over TCP, the other coordinator takes over when the owner goes away", "[real][tcp]") {
  const auto subject = corpus_subject("quakes_feed", records);
  const FeedJob job(subject, parallelism);
  Cluster cluster(job.spec(), log_file_of(job));

  REQUIRE(cluster.run_until_visible(5));
  const std::string first = cluster.owner();
  cluster.end(first);
  const auto end = cluster.wait_for(other_than(first));

  INFO(cluster.error());
  CHECK(end == JobEnd::finished);
  CHECK(job.complaint() == "");
  CHECK(cluster.owner() == other_than(first));
}
