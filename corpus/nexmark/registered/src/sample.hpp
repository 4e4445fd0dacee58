#pragma once

#include <cstdint>
#include <vector>

#include "millrace/nexmark/event.hpp"
#include "millrace/properties/input.hpp"

namespace millrace::nexmark {

/// So many events in four partitions, ten a second of event time: a window holds few enough to be
/// looked at, and ends every now and then. Within its partition an event is up to a second and a
/// half late.
properties::Input sample(std::uint64_t records);

/// The events of an input. Throws JobFailed: a line is none.
std::vector<Event> events_in(const properties::Input& input);

}  // namespace millrace::nexmark
