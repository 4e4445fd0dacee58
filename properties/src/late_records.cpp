#include "late_records.hpp"

#include <variant>

#include <fmt/format.h>

namespace millrace::properties {

std::optional<Breach> judge_late(const Reference& reference, std::uint64_t dropped,
                                 const std::optional<std::vector<OwnedRow>>& rows, SinkMode mode) {
  if (dropped > reference.may_be_late()) {
    return Breach{"late", fmt::format("{} records were dropped as late, and {} came too late",
                                      dropped, reference.may_be_late())};
  }
  const auto column = reference.count_column();
  if (!column || !rows) return std::nullopt;
  std::uint64_t counted = 0;
  for (const OwnedRow& row : *rows) {
    counted += static_cast<std::uint64_t>(std::get<std::int64_t>(row.at(*column)));
  }
  const std::uint64_t kept = reference.kept_records();
  const std::uint64_t twice = mode == SinkMode::upsert ? dropped : 0;
  if (counted + dropped >= kept && counted + dropped <= kept + twice) return std::nullopt;
  return Breach{"late", fmt::format("of {} records {} are counted and {} were dropped as late",
                                    kept, counted, dropped)};
}

}  // namespace millrace::properties
