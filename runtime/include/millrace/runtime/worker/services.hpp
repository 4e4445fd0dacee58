#pragma once

#include <string_view>

namespace millrace {

/// At which coordinators listen for workers.
inline constexpr std::string_view control_service = "control";
/// At which workers listen for lanes.
inline constexpr std::string_view data_service = "data";

}  // namespace millrace
