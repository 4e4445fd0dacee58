#pragma once

namespace millrace {

// The one extension of the language that we use; every 64-bit target of g++ and clang has it.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

}  // namespace millrace
