#pragma once

#include <functional>
#include <string_view>

#include "millrace/env/bytes.hpp"
#include "millrace/env/env.hpp"

namespace millrace::sim {

/// Answers the requests of one connection: adds the answer to `answer`. Errors that it throws are
/// thrown again at the client.
using DeviceSession = std::function<void(std::span<const std::byte> request, Encoder& answer)>;

/// Serves a device: every connection gets a task and a session of its own. Runs until the node
/// dies. A request begins with a byte, its number among `operations`.
void serve_device(Env& env, std::span<const std::string_view> operations,
                  const std::function<DeviceSession(Env&)>& open_session);

/// The service at which device servers listen.
inline constexpr std::string_view device_service = "device";

}  // namespace millrace::sim
