// Writes the events of the benchmark as files of lines, for whoever runs the queries for real.
//
//   nexmark_events EVENTS DIRECTORY [PARTITIONS [EVENTS-PER-SECOND]]

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "millrace/nexmark/generator.hpp"
#include "millrace/nexmark/text.hpp"

namespace {

using namespace millrace::nexmark;

void write(const Generator& generator, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  Texts texts;
  for (std::int64_t place = 0; place < generator.size(); ++place) {
    const Event event = generator.at(place, texts);
    file << to_text(event, texts) << '\n';
  }
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

void write_all(const GeneratorConfig& config, const std::string& directory) {
  std::filesystem::create_directories(directory);
  int number = 0;
  for (const GeneratorConfig& part : split(config)) {
    write(Generator(part), fmt::format("{}/events-{:03}.jsonl", directory, number++));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    fmt::print(stderr, "nexmark_events EVENTS DIRECTORY [PARTITIONS [EVENTS-PER-SECOND]]\n");
    return 2;
  }
  GeneratorConfig config;
  config.events = std::atoll(argv[1]);
  config.generators = argc > 3 ? std::atoi(argv[3]) : 4;
  if (argc > 4) config.events_per_second = std::atoll(argv[4]);
  try {
    write_all(config, argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "nexmark_events: {}\n", error.what());
    return 2;
  }
  return 0;
}
