#include "millrace/tool/main.hpp"

#include <charconv>

#include "millrace/runtime/lines.hpp"
#include "millrace/runtime/stream.hpp"
#include "millrace/runtime/table_sink.hpp"

// A job of one's own with every command: `shop test sales`, `shop run sales`.

using namespace millrace;
using namespace std::chrono_literals;

namespace {

/// A line `1700000000000 250`: when, and how much.
struct Sale {
  EventTime at;
  std::int64_t cents = 0;
};

Sale parse_sale(std::string_view line) {
  Sale sale;
  const char* const end = line.data() + line.size();
  const auto [space, wrong] = std::from_chars(line.data(), end, sale.at.ms);
  if (wrong != std::errc{} || space == end) throw BadRecord("a time and a price are expected");
  if (std::from_chars(space + 1, end, sale.cents).ptr != end) {
    throw BadRecord("the price is no number");
  }
  return sale;
}

using Total = Windowed<std::int64_t, std::int64_t>;

Job sales(const properties::Places& places) {
  TableSchema schema;
  schema.table = "totals";
  schema.columns = {{"since", TableSchema::Type::integer}, {"cents", TableSchema::Type::integer}};
  const auto write = [](const Total& total, CellWriter& cells) {
    cells.integer(total.window.start.ms);
    cells.integer(total.value);
  };
  return Job("sales", from("sales", text_lines<Sale>(places.input, &parse_sale))
                          .event_time<&Sale::at>(disorder(0s))
                          .key_by([](const Sale&) { return std::int64_t{0}; })
                          .window(tumbling(1s))
                          .aggregate("totals", sum<&Sale::cents>())
                          .to("table", staged_table<Total>(places.database, schema, write)));
}

/// Sales every 50 ms, for a trial.
properties::Input some_sales(std::uint64_t records) {
  std::string text;
  for (std::uint64_t i = 0; i < records; ++i) {
    text += std::to_string(1'700'000'000'000 + i * 50) + " " + std::to_string(100 + i % 7) + "\n";
  }
  return {{{"sales.txt", text, ""}}};
}

}  // namespace

int main(int argc, char** argv) {
  properties::UserJob job;
  job.name = "sales";
  job.about = "What was sold, every second.";
  job.make = &sales;
  job.places = {"sales.txt", "sales.db"};
  job.sample = &some_sales;
  return run_tool(argc, argv, {job});
}
