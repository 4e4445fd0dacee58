#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/env/event_time.hpp"
#include "millrace/runtime/state/key_hash.hpp"

namespace millrace {

/// A key for people, "key 7": a number or a text as it is, anything else by its hash.
std::string describe_key(std::int64_t number);
std::string describe_key(std::uint64_t number);
std::string describe_key(std::string_view text);
std::string describe_key_hash(std::uint64_t hash);

template <class K>
std::string describe_key_of(const K& key) {
  if constexpr (std::is_integral_v<K> || std::is_enum_v<K>) {
    using Wide = std::conditional_t<std::is_unsigned_v<K>, std::uint64_t, std::int64_t>;
    return describe_key(static_cast<Wide>(key));
  } else if constexpr (std::is_convertible_v<const K&, std::string_view>) {
    return describe_key(std::string_view(key));
  } else {
    return describe_key_hash(hash_key(key));
  }
}

/// A user's function threw a std::exception, which is being handled, over a row or an alarm of this
/// event time; `where` is its key.
///
/// Throws it again if it is a WorldError; of any other the text then names operator, key and time:
/// as JobFailed if it was one, and else as FunctionFailed.
[[noreturn]] void rethrow_of_function(std::string_view operator_name, std::string_view where,
                                      EventTime time);

}  // namespace millrace
