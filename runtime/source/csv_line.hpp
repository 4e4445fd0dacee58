#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// A cell of a line of comma-separated values, without its quotes.
struct CsvCell {
  std::string_view text;
  bool is_quoted = false;
};

/// Cuts lines into cells (RFC 4180): commas part them; a cell that begins with a quote ends with
/// one, and a quote inside of it is written twice. Blanks belong to their cell.
class CsvLine {
 public:
  /// The cells are good until the next call, and as long as `line` is.
  ///
  /// Throws BadRecord: a quote stands where none can, or a quoted cell does not end. A record is a
  /// line, so that no cell holds a line break.
  const std::vector<CsvCell>& cut(std::string_view line);

 private:
  CsvCell quoted(std::string_view line, std::size_t& at);
  CsvCell plain(std::string_view line, std::size_t& at) const;

  std::vector<CsvCell> cells_;
  std::string unquoted_;  ///< Cells that had quotes in them.
};

}  // namespace millrace
