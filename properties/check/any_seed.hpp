#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "millrace/properties/case.hpp"

namespace millrace::properties {

/// Of a seed there is nothing smaller: what can be made smaller are the sizes beside it.
inline std::uint64_t any_seed() {
  return run_seed(*rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()), 0);
}

}  // namespace millrace::properties
