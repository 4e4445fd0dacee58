#include "device_server.hpp"

#include <memory>
#include <vector>

#include <fmt/format.h>

#include "device_frame.hpp"
#include "node.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

/// Writes the frame of the answer. Returns whether the request was carried out.
bool answer_to(const DeviceSession& session, std::span<const std::byte> request, Encoder& answer) {
  const auto failed = [&answer](AnswerKind kind, const std::exception& error) {
    begin_answer(answer, kind);
    const std::string_view text = error.what();
    answer.raw(text.data(), text.size());
    return false;
  };
  try {
    begin_answer(answer, AnswerKind::value);
    session(request, answer);
    return true;
  } catch (const Unavailable& error) {
    return failed(AnswerKind::unavailable, error);
  } catch (const CorruptObject& error) {
    return failed(AnswerKind::corrupt, error);
  } catch (const WorldError& error) {
    return failed(AnswerKind::world_error, error);
  } catch (const UsageError& error) {
    return failed(AnswerKind::usage_error, error);
  } catch (const JobFailed& error) {
    return failed(AnswerKind::job_failed, error);
  }
}

/// Servers of devices exist only here, so their tasks are ours.
Node& node_of(Env& env) { return static_cast<Task&>(env.parker).node(); }

/// Returns whether the answer is sent, and not lost.
bool disturbed_answer(Env& env, Node& node, std::string_view operation,
                      const DeviceSession& session, std::span<const std::byte> request,
                      Encoder& answer) {
  // The request was long on its way; whoever sent it may have given it up.
  if (const auto by = node.take_answer_disturbance(operation, true)) env.sleep(*by);
  const bool was_carried_out = answer_to(session, request, answer);
  return !(was_carried_out && node.take_answer_disturbance(operation, false));
}

void serve_connection(Env& env, Connection& connection,
                      std::span<const std::string_view> operations, const DeviceSession& session) {
  Node& node = node_of(env);
  connection.bind(env.parker);
  // Used again from request to request.
  Bytes received;
  Bytes request;
  Encoder answer;
  try {
    while (true) {
      if (!try_take_frame(connection, received, request)) {
        env.parker.park_until(Instant::never());
        continue;
      }
      bool is_sent = true;
      if (node.answer_disturbances.empty()) {
        answer_to(session, request, answer);
      } else {
        const auto operation = operations[std::to_integer<std::size_t>(request.front())];
        is_sent = disturbed_answer(env, node, operation, session, request, answer);
      }
      if (is_sent) connection.write(end_frame(answer), Instant::never());
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
