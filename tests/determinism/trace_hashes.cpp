// Prints verdict and trace hash of fixed cases, a line each:  trace_hashes RUNS
// One build is deterministic if it prints the same twice; the project is, if all builds do.

#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "corpus_subject.hpp"

namespace {

using namespace millrace;
using namespace millrace::properties;

void print_hashes(const std::string& job, std::uint64_t runs) {
  const Subject subject = tests::corpus_subject(job, 1000);
  sim::StackPool stacks;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t seed = run_seed(1, i);
    const Outcome outcome =
        run_case(generate_case(subject.spec, subject.input, seed), subject, stacks);
    fmt::print("{} {:013x} {} {:016x}\n", job, seed, to_text(outcome.verdict), outcome.trace_hash);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 25;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), runs);
  print_hashes("quakes", runs);
  print_hashes("quakes_feed", runs);
}
