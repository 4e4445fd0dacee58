#include "millrace/runtime/control/failure.hpp"

#include <utility>

namespace millrace {

Failure describe_failure(std::exception_ptr error, const std::string& role) {
  const auto told = [&](Failure::Kind kind, const std::exception& what) {
    Failure failure;
    failure.kind = kind;
    // What a person must act upon names its file or table itself; who stumbled over it is no help.
    failure.text = kind == Failure::Kind::world ? role + ": " + what.what() : what.what();
    return failure;
  };
  try {
    std::rethrow_exception(std::move(error));
  } catch (const CorruptObject& corrupt) {
    // State that cannot be read does not become readable by trying again.
    Failure failure = told(Failure::Kind::refused, corrupt);
    failure.refusal = Refusal::state_unreadable;
    return failure;
  } catch (const FunctionFailed& function) {
    return told(Failure::Kind::function, function);
  } catch (const WorldError& world) {
    return told(Failure::Kind::world, world);
  } catch (const UsageError& usage) {
    return told(Failure::Kind::usage, usage);
  } catch (const JobFailed& failed) {
    return told(Failure::Kind::failed, failed);
  } catch (const Refused& refused) {
    Failure failure = told(Failure::Kind::refused, refused);
    failure.refusal = refused.why();
    return failure;
  }
}

void throw_failure(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::usage: throw UsageError(failure.text);
    case Failure::Kind::failed: throw JobFailed(failure.text);
    case Failure::Kind::refused: throw Refused(failure.refusal, failure.text);
    case Failure::Kind::function:
    case Failure::Kind::world: break;
  }
  throw WorldError(failure.text);
}

}  // namespace millrace
