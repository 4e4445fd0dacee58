#pragma once

#include <string_view>

namespace millrace::sim {

// What can be asked of the servers of devices, in the order of their requests' numbers.

inline constexpr std::string_view store_operations[] = {"put",  "read",   "read_register",
                                                        "swap", "remove", "list"};
inline constexpr std::string_view database_operations[] = {"open", "ensure", "fence", "publish"};
inline constexpr std::string_view log_operations[] = {"partitions", "read"};

}  // namespace millrace::sim
