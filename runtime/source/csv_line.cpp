#include "csv_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "millrace/runtime/source/bad_record.hpp"

namespace millrace {

const std::vector<CsvCell>& CsvLine::cut(std::string_view line) {
  cells_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // Nothing that was lent out of it moves.
  for (std::size_t at = 0;; ++at) {
    const bool is_quoted = at < line.size() && line[at] == '"';
    cells_.push_back(is_quoted ? quoted(line, at) : plain(line, at));
    if (at == line.size()) return cells_;
  }
}

/// Leaves `at` behind the cell: at a comma or at the end.
CsvCell CsvLine::quoted(std::string_view line, std::size_t& at) {
  const std::size_t begin = unquoted_.size();
  for (++at;; ++at) {
    const std::size_t quote = line.find('"', at);
    if (quote == std::string_view::npos) {
      throw BadRecord(
          fmt::format("the quoted cell {} does not end in its line; a record is a line, and no "
                      "cell holds a line break",
                      cells_.size() + 1));
    }
    unquoted_ += line.substr(at, quote - at);
    at = quote + 1;
    if (at == line.size() || line[at] == ',') break;
    if (line[at] != '"') {
      throw BadRecord(fmt::format(
          "the quoted cell {} goes on behind its quotes; a quote inside of it is written twice",
          cells_.size() + 1));
    }
    unquoted_ += '"';
  }
  return {std::string_view(unquoted_).substr(begin), true};
}

CsvCell CsvLine::plain(std::string_view line, std::size_t& at) const {
  const std::size_t begin = at;
  at = std::min(line.find(',', at), line.size());
  const std::string_view text = line.substr(begin, at - begin);
  if (text.find('"') != std::string_view::npos) {
    throw BadRecord(fmt::format(
        "a quote stands inside of the cell {}, which does not begin with one", cells_.size() + 1));
  }
  return {text};
}

}  // namespace millrace
