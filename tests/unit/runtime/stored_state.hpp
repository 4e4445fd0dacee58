#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/worker/state_loader.hpp"
#include "millrace/runtime/worker/uploader.hpp"

#include "fake_world.hpp"

namespace millrace {

/// Makes a snapshot durable in the world's store, and returns how that is acknowledged.
inline Acknowledgement upload(FakeWorld& world, std::unique_ptr<Snapshot> snapshot) {
  Env env = world.env("uploader");
  Snapshots snapshots(1);
  snapshots.try_put(snapshot);
  std::optional<Acknowledgement> told;
  try {
    run_uploader(env, snapshots, std::chrono::seconds(1), [&](ControlMessage message) {
      told = std::get<Acknowledged>(std::move(message)).acknowledgement;
    });
  } catch (const EndlessWait&) {
    // It waits for the next snapshot.
  }
  return std::move(told).value();
}

/// Takes a snapshot of every subtask of an operator, at a barrier, and returns what a takeover
/// finds of them.
template <class Stages>
Manifest checkpoint(FakeWorld& world, CheckpointId id, std::string_view operator_name,
                    Stages& stages) {
  Manifest manifest;
  manifest.id = id;
  manifest.key_groups = 128;
  manifest.parallelism = static_cast<std::uint32_t>(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    auto snapshot = std::make_unique<Snapshot>();
    snapshot->acknowledgement.id = id;
    snapshot->acknowledgement.task = std::string(operator_name) + "." + std::to_string(i);
    snapshot->subtask = static_cast<std::int32_t>(i);
    stages[i]->save(*snapshot);
    const Acknowledgement acknowledgement = upload(world, std::move(snapshot));
    if (acknowledgement.state) manifest.states.push_back(*acknowledgement.state);
    manifest.watermarks = acknowledgement.watermarks;
    manifest.records_late += acknowledgement.records_late;
  }
  return manifest;
}

}  // namespace millrace
