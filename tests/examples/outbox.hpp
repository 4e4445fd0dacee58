#pragma once

#include <string>

#include "millrace/env/user_code.hpp"

namespace millrace::examples {

/// A service that carries out effects in the real world: it puts every request into a file, a line
/// `key request` each, but one with a key that is there already it passes over. So what is asked
/// for twice under one key is done once, also across a crash of the process.
Service outbox(const std::string& file);

}  // namespace millrace::examples
