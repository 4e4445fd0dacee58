#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "millrace/env/cells.hpp"
#include "millrace/env/sink_table.hpp"

namespace millrace {

/// What a look at a sink's table found, by another program than the one that writes it. All of it
/// is one state of the database.
struct TableLook {
  enum class Outcome : std::uint8_t {
    seen,    ///< All rows that were asked for were visited.
    absent,  ///< There is no such table, or no database. There may be a marker.
    busy,    ///< Nobody is let in now, or a crash left work that only a writer can do. Look again.
  };
  Outcome outcome = Outcome::seen;
  std::optional<Marker> marker;
  std::uint64_t rows = 0;       ///< Visited.
  std::int64_t last_rowid = 0;  ///< Of the last visited row, or what was asked to start above.
};

/// Gets the rows of a look, in the order of their rowids, which is that of their insertion: cells
/// in the order of the table's columns. Texts are good only during the call.
using TableVisit = std::function<void(std::int64_t rowid, std::span<const Cell> cells)>;

}  // namespace millrace
