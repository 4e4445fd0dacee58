#pragma once

#include <cstdint>
#include <type_traits>

#include "millrace/env/bytes.hpp"
#include "millrace/env/hash.hpp"
#include "millrace/runtime/state/codec.hpp"

namespace millrace {

// For worlds in which somebody compares what users' functions make of equal input (UserCode).

/// What has a codec can be compared; what has none is not looked at.
template <class T>
concept Comparable = requires(Encoder& out, const T& value) { Codec<T>::encode(out, value); };

/// Hashes values, in order, by their bytes in a checkpoint.
class ValueHash {
 public:
  template <Comparable T>
  ValueHash& add(const T& value) {
    encode(bytes_, value);
    return *this;
  }
  std::uint64_t finish() { return checksum(bytes_.view()); }

 private:
  Encoder bytes_;
};

}  // namespace millrace
