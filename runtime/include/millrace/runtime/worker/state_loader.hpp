#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/env/env.hpp"
#include "millrace/runtime/coordinator/manifest.hpp"
#include "millrace/runtime/flow/stage.hpp"
#include "millrace/runtime/state/snapshot.hpp"

namespace millrace {

/// Reads what an operator's subtask takes up from a checkpoint: the sections of all old subtasks
/// whose keys may be its own, each verified.
///
/// Throws CorruptObject: a section is not what the manifest says. WorldError: an object is not
/// there, or the store does not answer.
std::vector<RestoredSection> load_sections(Env& env, const Manifest& manifest,
                                           std::string_view operator_name, Subtask at);

/// The partitions of a source's subtask: number i of that source's in the manifest belongs to
/// i mod p.
std::vector<RestoredPartition> partitions_of(const Manifest& manifest, std::string_view source,
                                             Subtask at);

}  // namespace millrace
