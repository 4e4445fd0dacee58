#pragma once

#include <vector>

#include "millrace/properties/user_job.hpp"

namespace millrace::examples {

/// Does all as it should.
properties::UserJob totals();

// Jobs whose own functions break exactly-once, each in the way that it is named for, and what a
// trial says of it.

/// Draws at random: `functions` convicts the operator `bonus`.
properties::UserJob lottery();
/// Remembers rows outside of its state: `functions` convicts the operator `sequel`.
properties::UserJob memory();
/// Sends a mail for every large payment: after a recovery, again. `effects` convicts `notify`.
properties::UserJob mails();
/// The same, with a key by which the mail is sent once: nobody convicts it.
properties::UserJob keyed_mails();
/// Uses one key for two different mails: `effects` convicts it.
properties::UserJob mixed_mails();
/// Has keys, and when it runs for real no service that would mail: the job fails.
properties::UserJob nobodys_mails();
/// Counts rows in the order in which two files happen to be read: its result depends on the
/// interleaving.
properties::UserJob first_come();
/// Cannot stand one record: the job fails when it has met it three times.
properties::UserJob poison();

std::vector<properties::UserJob> all();

}  // namespace millrace::examples
