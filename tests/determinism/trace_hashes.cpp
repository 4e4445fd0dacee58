// Prints verdict and trace hash of fixed cases, a line each:  trace_hashes RUNS
// One build is deterministic if it prints the same twice; the project is, if all builds do.
// And every event of one of them, to see where two builds part:  trace_hashes JOB SEED

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "corpus_subject.hpp"

namespace {

using namespace millrace;
using namespace millrace::properties;

constexpr std::uint64_t records = 1000;

void print_hashes(const std::string& job, std::uint64_t runs) {
  const Subject subject = tests::corpus_subject(job, records);
  sim::StackPool stacks;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = run_seed(1, i);
    const Outcome outcome = run_case(generate_case(subject, seed), subject, stacks);
    fmt::print("{} {:013x} {} {:016x}\n", job, seed, to_text(outcome.verdict), outcome.trace_hash);
  }
}

void print_events(const std::string& job, std::uint64_t seed) {
  const Subject subject = tests::corpus_subject(job, records);
  sim::StackPool stacks;
  Observers observers;
  observers.on_event = [](const sim::TraceEvent& event) { fmt::print("{}\n", to_text(event)); };
  run_case(generate_case(subject, seed), subject, stacks, observers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    std::uint64_t seed = 0;
    std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), seed, 16);
    print_events(argv[1], seed);
    return 0;
  }
  std::uint64_t runs = 25;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), runs);
  print_hashes("quakes", runs);
  print_hashes("quakes_feed", runs);
}
