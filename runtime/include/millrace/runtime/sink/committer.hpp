#pragma once

#include <functional>

#include "millrace/env/channel.hpp"
#include "millrace/env/env.hpp"
#include "millrace/runtime/control/messages.hpp"
#include "millrace/runtime/sink.hpp"

namespace millrace {

/// What a committer is told after its recovery.
using PublishOrders = Channel<Publish>;
/// What it has to say, to the coordinator.
using Report = std::function<void(ControlMessage)>;

/// The one task of a sink that makes rows visible (PROTOCOL 2.1): fences the sink for its term,
/// publishes what the restored manifest lists, then what it is ordered to, one checkpoint at a time
/// and in order. Writes no rows of its own. Runs until it is cancelled.
///
/// Throws Refused, UsageError, JobFailed: the job cannot go on. WorldError: recovery is the only
/// repair, or a later term has the sink, which the recovery will find out.
void run_committer(Env& env, const SinkDescription& sink, const RecoverSink& order,
                   PublishOrders& orders, const Report& report);

}  // namespace millrace
