#include "visibility_trial.hpp"

#include <fmt/format.h>

namespace millrace::properties {
namespace {

constexpr Lineage lineage{1, 2};

std::vector<std::string> five_records() {
  return {record("a", 0), record("b", 500), record("a", 1500), record("b", 2500),
          record("a", 3500)};
}

/// A cell as SQL writes it. No text of these tests has a quote.
std::string sql_of(const OwnedCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return "'" + *text + "'";
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return "NULL";
}

}  // namespace

VisibilityTrial::VisibilityTrial(const SmallJob& job) : VisibilityTrial(job, five_records()) {}

VisibilityTrial::VisibilityTrial(const SmallJob& job, const std::vector<std::string>& lines)
    : spec_(spec_of(job)), input_(input_of(lines)), reference_(spec_, input_) {}

void VisibilityTrial::fence() {
  SqliteTable sink(path_, "", tables_of(spec_).front().schema);
  sink.ensure(Instant::never());
  sink.fence({lineage, Term{1}, true, false}, Instant::never());
}

void VisibilityTrial::show_rows(std::size_t rows) {
  execute("DELETE FROM results");
  for (std::size_t i = 0; i < rows; ++i) {
    std::string values;
    for (const OwnedCell& cell : reference_.rows()[i].cells) {
      values += (values.empty() ? "" : ", ") + sql_of(cell);
    }
    add_row(values);
  }
}

void VisibilityTrial::add_row(const std::string& values) {
  execute(fmt::format("INSERT INTO results VALUES ({})", values));
}

void VisibilityTrial::set_marker(CheckpointId id) {
  execute(fmt::format("UPDATE millrace_sinks SET term = {}, n = {}", id.term.number, id.n));
}

void VisibilityTrial::execute(const std::string& sql) {
  Database(path_, "", Database::Access::write).execute(sql);
}

std::vector<Claim> VisibilityTrial::claims(int lines_read, bool ended) const {
  std::size_t offset = 0;
  const std::string& text = input_.partitions[0].text;
  for (int i = 0; i < lines_read; ++i) offset = text.find('\n', offset) + 1;
  return {{"p.jsonl", static_cast<std::int64_t>(offset), ended}};
}

void VisibilityTrial::claim(CheckpointId id, int lines_read, bool ended) {
  judge_.claimed(id, claims(lines_read, ended));
}

void VisibilityTrial::publish(CheckpointId id, int lines_read, bool ended) {
  claim(id, lines_read, ended);
  decide(id);
  show_rows(reference_.visible_rows(claims(lines_read, ended)));
  set_marker(id);
}

std::string VisibilityTrial::breach() const {
  if (!judge_.breach()) return "";
  return judge_.breach()->judge + ": " + judge_.breach()->what;
}

std::string VisibilityTrial::breach_after_look() {
  judge_.look();
  return breach();
}

TableLook VisibilityTrial::look(const TableVisit& visit) {
  if (is_broken_) throw Unavailable("the database does not answer");
  if (!reader_) reader_.emplace(path_, "", "results");
  return reader_->look(visit);
}

}  // namespace millrace::properties
