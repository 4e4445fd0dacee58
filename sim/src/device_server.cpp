#include "device_server.hpp"

#include <memory>
#include <vector>

#include <fmt/format.h>

#include "device_frame.hpp"
#include "node.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

Bytes answered(AnswerKind kind, std::span<const std::byte> rest) {
  Encoder out;
  out.number(static_cast<std::uint8_t>(kind));
  out.raw(rest.data(), rest.size());
  return out.take();
}

Bytes answer_to(const DeviceSession& session, std::span<const std::byte> request) {
  try {
    return answered(AnswerKind::value, session(request));
  } catch (const Unavailable& error) {
    return answered(AnswerKind::unavailable, as_bytes(error.what()));
  } catch (const CorruptObject& error) {
    return answered(AnswerKind::corrupt, as_bytes(error.what()));
  } catch (const WorldError& error) {
    return answered(AnswerKind::world_error, as_bytes(error.what()));
  } catch (const UsageError& error) {
    return answered(AnswerKind::usage_error, as_bytes(error.what()));
  } catch (const JobFailed& error) {
    return answered(AnswerKind::job_failed, as_bytes(error.what()));
  }
}

/// Servers of devices exist only here, so their tasks are ours.
Node& node_of(Env& env) { return static_cast<Task&>(env.parker).node(); }

/// Nothing: the answer is lost.
std::optional<Bytes> disturbed_answer(Env& env, Node& node, std::string_view operation,
                                      const DeviceSession& session,
                                      std::span<const std::byte> request) {
  // The request was long on its way; whoever sent it may have given it up.
  if (const auto by = node.take_answer_disturbance(operation, true)) env.sleep(*by);
  Bytes answer = answer_to(session, request);
  const bool was_carried_out = answer.front() == static_cast<std::byte>(AnswerKind::value);
  if (was_carried_out && node.take_answer_disturbance(operation, false)) return std::nullopt;
  return answer;
}

void serve_connection(Env& env, Connection& connection,
                      std::span<const std::string_view> operations, const DeviceSession& session) {
  Node& node = node_of(env);
  connection.bind(env.parker);
  Bytes received;
  try {
    while (true) {
      const auto request = try_take_frame(connection, received);
      if (!request) {
        env.parker.park_until(Instant::never());
        continue;
      }
      std::optional<Bytes> answer;
      if (node.answer_disturbances.empty()) {
        answer = answer_to(session, *request);
      } else {
        const auto operation = operations[std::to_integer<std::size_t>(request->front())];
        answer = disturbed_answer(env, node, operation, session, *request);
      }
      if (answer) connection.write(framed(*answer), Instant::never());
    }
  } catch (const ConnectionLost&) {
    // The client is gone; so is its session.
  }
}

}  // namespace

void serve_device(Env& env, std::span<const std::string_view> operations,
                  const std::function<DeviceSession(Env&)>& open_session) {
  const auto listener = env.network.listen(device_service);
  listener->bind(env.parker);
  std::vector<std::unique_ptr<RunningTask>> sessions;
  std::uint64_t opened = 0;
  while (true) {
    while (auto connection = listener->try_accept()) {
      const std::shared_ptr<Connection> shared = std::move(connection);
      sessions.push_back(env.tasks.start(fmt::format("{}.session{}", env.role, ++opened),
                                         [open_session, operations, shared](Env& session_env) {
                                           serve_connection(session_env, *shared, operations,
                                                            open_session(session_env));
                                         }));
    }
    std::erase_if(sessions, [&env](const auto& session) { return session->join(env.now()); });
    env.parker.park_until(Instant::never());
  }
}

}  // namespace millrace::sim
