#pragma once

#include "millrace/runtime/coordinator/manifest.hpp"

namespace millrace {

/// A manifest with something in every place.
inline Manifest sample_manifest() {
  Manifest manifest;
  manifest.lineage = {0x0123456789ABCDEFU, 0xFEDCBA9876543210U};
  manifest.id = {{7}, 42};
  manifest.fingerprint = {{"source.files", "../data/*.jsonl"}, {"window.tumbling", "1h"}};
  manifest.key_groups = 128;
  manifest.parallelism = 2;
  PartitionProgress progress;
  progress.source = "source";
  progress.name = "../data/ak.jsonl";
  progress.position = {4711, 48};
  progress.newest = {1'600'000'000'000};
  progress.ended = true;
  progress.records = 47;
  progress.skipped = 1;
  progress.generator = {std::byte{7}};
  manifest.partitions = {{{"../data/ak.jsonl", 5000, 99}, progress}};
  manifest.watermarks = {{"window", {1'599'999'999'999}}};
  StateObject state;
  state.name = "state/7.42-window.1";
  state.subtask = 1;
  state.sections = {{"window", "windows", "text to int64", 24, 300, 12}};
  manifest.states = {state};
  manifest.staged = {{"sink", {{7}, 41}, 0, "staged/7.41-sink.0", 10, 400},
                     {"sink", {{7}, 42}, 1, "staged/7.42-sink.1", 3, 120}};
  manifest.records_late = 5;
  manifest.kind = CheckpointKind::savepoint;
  manifest.request = 9;
  manifest.kept = {{{{6}, 3},
                    CheckpointKind::stop,
                    8,
                    "manifest/6.3",
                    77,
                    {"state/6.3-window.0", "state/6.3-window.1"},
                    2'000}};
  return manifest;
}

}  // namespace millrace
