#include "device_client.hpp"

#include "device_frame.hpp"
#include "device_server.hpp"
#include "task.hpp"

namespace millrace::sim {
namespace {

Bytes unwrap(Bytes answer) {
  Decoder in(answer);
  const auto kind = static_cast<AnswerKind>(in.number<std::uint8_t>());
  answer.erase(answer.begin());
  if (kind == AnswerKind::value) return answer;
  const std::string text(as_text(answer));
  switch (kind) {
    case AnswerKind::value: break;
    case AnswerKind::world_error: throw WorldError(text);
    case AnswerKind::unavailable: throw Unavailable(text);
    case AnswerKind::corrupt: throw CorruptObject(text);
    case AnswerKind::usage_error: throw UsageError(text);
    case AnswerKind::job_failed: throw JobFailed(text);
  }
  throw WorldError("a device answered nonsense");
}

}  // namespace

std::optional<Bytes> DeviceClient::call(Encoder& request, Instant deadline) {
  try {
    if (!send(request, deadline)) return std::nullopt;
    InnerWait wait(task_);
    while (true) {
      if (auto answer = try_receive()) return answer;
      if (task_.now() >= deadline) break;
      wait.until(deadline);
    }
  } catch (const ConnectionLost&) {
  } catch (const Unavailable&) {
    // No answer to the attempt to connect. An answer that says so is one: it has come this far.
    if (connection_ != nullptr) throw;
  }
  hang_up();
  return std::nullopt;
}

bool DeviceClient::send(Encoder& request, Instant deadline) {
  if (connection_ == nullptr) {
    connection_ = task_.connect({node_, std::string(device_service)}, Lane::device, deadline);
    if (connection_ == nullptr) return false;
    connection_->bind(task_);
  }
  if (!connection_->write(end_frame(request), deadline)) {
    hang_up();
    throw ConnectionLost(node_ + " does not read");
  }
  return true;
}

std::optional<Bytes> DeviceClient::try_receive() {
  Bytes answer;
  if (!try_take_frame(*connection_, received_, answer)) return std::nullopt;
  return unwrap(std::move(answer));
}

void DeviceClient::hang_up() {
  connection_.reset();
  received_.clear();
}

}  // namespace millrace::sim
