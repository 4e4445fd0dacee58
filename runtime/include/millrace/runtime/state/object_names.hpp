#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "millrace/env/identity.hpp"

namespace millrace::object_names {

// What lies where in a job's object store. Every name but the head's holds the term of its writer,
// and no term is ever used twice, so no name is (PROTOCOL 1.4): a late write of a zombie can never
// replace what somebody relies on. There is one directory per kind and none per checkpoint: nobody
// would remove those.

inline constexpr std::string_view head = "head";

std::string manifest(CheckpointId id);
/// Of genesis: the lineage tells apart those of several candidates.
std::string genesis(Lineage lineage);
std::string state(CheckpointId id, std::string_view task);
std::string staged(CheckpointId id, std::string_view sink, std::uint32_t subtask);
std::string heartbeat(Term term);

/// The prefixes under which a sweep looks for what nobody reaches.
inline constexpr std::string_view swept_prefixes[] = {"heartbeat/", "manifest/", "staged/",
                                                      "state/"};

/// The term in a name, or nothing if it is none of ours.
std::optional<Term> term_of(std::string_view name);

}  // namespace millrace::object_names
