#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <signal.h>

#include "example_jobs.hpp"
#include "payment.hpp"
#include "temporary_directory.hpp"
#include "tool.hpp"

// What functions ask for outside of the stream, carried out for real and through a crash.

using namespace millrace;
using namespace millrace::tests;
using Catch::Contains;

namespace {

constexpr std::uint64_t records = 400;

class MailingRun {
 public:
  explicit MailingRun(std::string job) : job_(std::move(job)) {
    std::filesystem::create_directory(directory_.path() + "/payments");
    for (const auto& partition : examples::some_payments(records).partitions) {
      std::ofstream(directory_.path() + "/payments/" + partition.name) << partition.text;
    }
  }

  /// The only checkpoint is that of the end: before it nothing is decided.
  ToolEnd run(const Tool::Words& environment = {}) const {
    return run_tool_in(directory_.path(), {"run", job_, "--set", "checkpoint.interval=1h"},
                       environment);
  }

  /// What was mailed, in the order in which it was.
  std::vector<std::string> mails() const {
    std::vector<std::string> lines;
    std::ifstream file(directory_.path() + "/" + job_ + ".outbox");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  posix::TemporaryDirectory directory_;
  std::string job_;
};

/// How many payments of the input are about so much that a mail is due.
std::size_t large_payments() {
  std::size_t count = 0;
  for (const auto& partition : examples::some_payments(records).partitions) {
    std::istringstream lines(partition.text);
    for (std::string line; std::getline(lines, line);) {
      count += examples::parse_payment(line).cents >= 900 ? 1 : 0;
    }
  }
  return count;
}

std::size_t different(const std::vector<std::string>& lines) {
  return std::set<std::string>(lines.begin(), lines.end()).size();
}

}  // namespace

TEST_CASE("an effect is carried out for real, once for each that is asked for", "[examples]") {
  const MailingRun job("mails");
  CHECK(job.run().exit_code == 0);
  CHECK(job.mails().size() == large_payments());
}

TEST_CASE("through a crash, an effect without a key is done twice", "[examples]") {
  const MailingRun job("mails");
  REQUIRE(job.run(killed_at("manifest_written")).signal == SIGKILL);
  CHECK(job.mails().size() == large_payments());
  CHECK(job.run().exit_code == 0);
  CHECK(job.mails().size() == 2 * large_payments());
}

TEST_CASE("through a crash, an effect under a key is done once", "[examples]") {
  const MailingRun job("keyed_mails");
  REQUIRE(job.run(killed_at("manifest_written")).signal == SIGKILL);
  CHECK(job.run().exit_code == 0);
  CHECK(job.mails().size() == large_payments());
  CHECK(different(job.mails()) == large_payments());
}

TEST_CASE("a job that asks for a service that is not there fails at once", "[examples]") {
  const MailingRun job("nobodys_mails");
  const ToolEnd end = job.run();
  CHECK(end.exit_code == 8);
  CHECK_THAT(end.errors, Contains("notify.0: there is no service `mail` to ask for an effect"));
  CHECK_THAT(end.errors, !Contains("times"));
  CHECK_THAT(end.output, !Contains("restart"));
}
