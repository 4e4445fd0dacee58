#include "marker_table.hpp"

#include <fmt/format.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

std::uint64_t number(const Cell& cell) {
  const auto* value = std::get_if<std::int64_t>(&cell);
  if (value == nullptr || *value < 0) throw CorruptObject("a number is not what it must be");
  return static_cast<std::uint64_t>(*value);
}

Marker marker_in(const Statement& row) {
  const Cell cell = row.column(0);
  const auto* text = std::get_if<std::string_view>(&cell);
  const auto lineage = text == nullptr ? std::nullopt : parse_lineage(*text);
  if (!lineage) throw CorruptObject("the lineage is not what it must be");
  return {*lineage, {number(row.column(1))}, {{number(row.column(2))}, number(row.column(3))}};
}

}  // namespace

std::string MarkerTable::creation() {
  return fmt::format(
      "CREATE TABLE {}(sink TEXT NOT NULL PRIMARY KEY, lineage TEXT NOT NULL, "
      "fence_term INTEGER NOT NULL, term INTEGER NOT NULL, n INTEGER NOT NULL)",
      name);
}

std::optional<Marker> MarkerTable::read(const std::string& sink) {
  if (!read_) {
    read_.emplace(database_,
                  fmt::format("SELECT lineage, fence_term, term, n FROM {} WHERE sink = ?1", name));
  }
  read_->bind(1, sink);
  std::optional<Marker> marker;
  try {
    if (read_->step()) marker = marker_in(*read_);
  } catch (const CorruptObject& error) {
    read_->reset();
    throw CorruptObject(fmt::format("database `{}`: the marker of sink `{}` in {}: {}",
                                    database_.path(), sink, name, error.what()));
  }
  read_->reset();
  return marker;
}

void MarkerTable::put(const std::string& sink, const Marker& marker) {
  if (!put_) {
    put_.emplace(database_, fmt::format("REPLACE INTO {}(sink, lineage, fence_term, term, n) "
                                        "VALUES (?1, ?2, ?3, ?4, ?5)",
                                        name));
  }
  const std::string lineage = to_text(marker.lineage);
  put_->bind(1, sink);
  put_->bind(2, lineage);
  put_->bind(3, static_cast<std::int64_t>(marker.fence_term.number));
  put_->bind(4, static_cast<std::int64_t>(marker.published.term.number));
  put_->bind(5, static_cast<std::int64_t>(marker.published.n));
  put_->step();
  put_->reset();
}

}  // namespace millrace
