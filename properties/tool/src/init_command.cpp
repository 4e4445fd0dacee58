#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "millrace/env/error.hpp"

#include "commands.hpp"

namespace millrace::tool {
namespace {

constexpr const char* job_text =
    R"toml(# A Millrace job: how many orders each customer placed per hour, and for how much.
#
#   millrace check FILE             what it means and what it guarantees; runs nothing
#   millrace test FILE --seeds 500  crash it in simulation, and compare what readers see
#   millrace run FILE               for real; kill it at any moment, and run it again
#
# A key that Millrace does not know is an error, never passed over. `--set sink.table=other`
# replaces a value for one command.

[job]
name = "orders"
parallelism = 2                     # tasks of every kind; may change between runs

# Where records come from: one JSON object a line, such as
#   {"customer": "ada", "at": 1517443200000, "amount": 12.5}
[source]
format = "jsonl"
files = "input/*.jsonl"             # relative to this file; one file is one partition
fields = { customer = "string", at = "int64", amount = "float64?" }   # ?: may be null or missing
event_time = "at"                   # when it happened, in ms since 1970, UTC
disorder = "5min"                   # how far behind the newest a record may come and still count
on_bad_record = "fail"              # end the job, naming file and line; or "skip", and count it

# What is done to them, step by step. A job may also have several sources and sinks, and joins.
[[step]]
filter = "customer != '' and not (amount < 0)"   # remove this step to keep every record

[[step]]
window = { tumbling = "1h", key = ["customer"] }
aggregate = { orders = "count()", total = "sum(amount)", largest = "max(amount)" }

# Where rows go, each exactly once: those of a checkpoint become visible together, when it is
# complete. The columns are the key, window_start, window_end and the aggregates.
[sink]
table = "orders_per_hour"           # made if it is not there
database = "orders.db"              # SQLite; relative to the working directory
mode = "staged"
key = ["customer", "window_start"]  # indexed; `unique = true` makes it a constraint

# What a run goes on from after a crash. Keep it as long as the table.
[checkpoint]
directory = "orders.state"          # relative to the working directory
interval = "1s"                     # how often rows become visible
min_pause = "0s"                    # from the end of one checkpoint to the next, at least
timeout = "10s"                     # then a checkpoint is given up
tolerable_failures = 3              # so many in a row; one more, and the job restarts
retained = 1                        # so many are kept; the job goes on from the newest

# What becomes of a failure that may pass, such as a disk that is full.
[restart]
strategy = "exponential"            # or "fixed": `delay` does not double
delay = "100ms"                     # before the first restart
max_delay = "5s"
attempts = 10                       # without a completed checkpoint; one more ends the job
# within = "1h"                     # count them in such a span instead
)toml";

/// Throws UsageError.
void write_new(const std::string& path, const char* text) {
  std::FILE* const file = std::fopen(path.c_str(), "wxb");  // x: only if there is none.
  if (file == nullptr && errno == EEXIST) {
    throw UsageError(
        fmt::format("{} is there already and is not overwritten; name another file", path));
  }
  if (file == nullptr) throw UsageError(fmt::format("{}: {}", path, std::strerror(errno)));
  const bool is_written = std::fputs(text, file) >= 0;
  const bool is_closed = std::fclose(file) == 0;
  if (!is_written || !is_closed) throw UsageError(fmt::format("{}: it cannot be written", path));
}

}  // namespace

int init_command(const InitFlags& flags) {
  write_new(flags.file, job_text);
  fmt::print(
      "{} was written. It reads input/*.jsonl beside it; put files there, or change `files`\n"
      "and `fields` to what you have. Then:\n"
      "  millrace check {}\n",
      flags.file, flags.file);
  return 0;
}

}  // namespace millrace::tool
