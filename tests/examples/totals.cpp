#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

#include "example_jobs.hpp"
#include "payment.hpp"

// A job in C++ from end to end: a source of one's own format, a window, a table. It is judged
// against its own calm run.

namespace millrace::examples {
namespace {

using namespace std::chrono_literals;

using Total = Windowed<std::string, std::int64_t>;

Sink<Total> totals_table(const std::string& database) {
  using Type = TableSchema::Type;
  TableSchema schema;
  schema.table = "totals";
  schema.columns = {{"user", Type::text}, {"since", Type::integer}, {"cents", Type::integer}};
  schema.key = {"user", "since"};
  return staged_table<Total>(database, schema, [](const Total& total, CellWriter& cells) {
    cells.text(total.key);
    cells.integer(total.window.start.ms);
    cells.integer(total.value);
  });
}

}  // namespace

properties::UserJob totals() {
  properties::UserJob job;
  job.name = "totals";
  job.about = "How much each user paid, every second.";
  job.places = {"payments/*.txt", "totals.db"};
  job.sample = some_payments;
  job.make = [](const properties::Places& places) {
    return Job("totals", from("payments", payments(places.input))
                             .event_time<&Payment::at>(disorder(0s))
                             .key_by<&Payment::user>()
                             .window(tumbling(1s))
                             .aggregate("per_user", sum<&Payment::cents>())
                             .to("totals", totals_table(places.database)));
  };
  return job;
}

}  // namespace millrace::examples
