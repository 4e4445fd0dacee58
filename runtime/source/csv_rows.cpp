#include "millrace/runtime/source/csv_rows.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "millrace/env/error.hpp"

#include "csv_line.hpp"

namespace millrace {
namespace {

/// Digits, perhaps behind a minus, perhaps with a point and digits, perhaps with an exponent.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at != begin;
  };
  if (!digits()) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

bool is_written_zero(std::string_view number) {
  const auto mantissa = number.substr(0, number.find_first_of("eE"));
  return mantissa.find_first_of("123456789") == std::string_view::npos;
}

template <class Number>
std::optional<Number> whole_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && at == end ? std::optional(number) : std::nullopt;
}

std::optional<double> real_of(std::string_view text) {
  if (!is_number(text)) return std::nullopt;
  if (is_written_zero(text)) return 0.0;
  const auto number = whole_of<double>(text);
  return number == 0.0 ? std::nullopt : number;
}

class CsvRowReader final : public SourceReader<Row> {
 public:
  CsvRowReader(const WrittenRows& description, Env& env, std::string partition, Position from,
               std::int64_t end)
      : description_(description),
        env_(env),
        partition_(std::move(partition)),
        from_(from),
        end_(end) {
    open({});
  }

  Reading<Row> next(std::size_t most) override {
    rows_.clear();
    using Then = Reading<Row>::Then;
    if (columns_.empty() && !read_header()) {
      return {{}, reader_->at_end() ? Then::end : Then::wait};
    }
    while (rows_.size() < most) {
      const auto entries = reader_->try_read(most - rows_.size());
      if (entries.empty()) break;
      for (const LogEntry& entry : entries) {
        read(entry);
        position_ = entry.next;
      }
    }
    if (!rows_.empty()) return {rows_, Then::more};
    return {{}, reader_->at_end() ? Then::end : Then::wait};
  }

  Position position() const override { return std::max(position_, from_); }
  std::uint64_t skipped() const override { return skipped_; }

 private:
  void open(Position from) {
    reader_ = env_.log.open(description_.address, partition_, from, end_);
    reader_->bind(env_.parker);
    position_ = from;
  }

  /// Returns whether it was there.
  bool read_header() {
    const auto entries = reader_->try_read(1);
    if (entries.empty()) return false;
    const LogEntry& entry = entries.front();
    try {
      find_columns(line_.cut(entry.bytes));
    } catch (const BadRecord& bad) {
      throw_bad_record(partition_, entry.at.line, bad.what());
    }
    position_ = entry.next;
    if (from_ > position_) open(from_);
    return true;
  }

  void find_columns(const std::vector<CsvCell>& header) {
    std::vector<std::size_t> columns;
    const auto is_named = [](const Field& field) {
      return [&field](const CsvCell& cell) { return cell.text == field.name; };
    };
    for (const Field& field : description_.fields) {
      const auto found = std::find_if(header.begin(), header.end(), is_named(field));
      if (found == header.end()) {
        std::vector<std::string_view> names;
        for (const CsvCell& cell : header) names.push_back(cell.text);
        throw BadRecord(fmt::format("there is no column `{}`; the first line names {}", field.name,
                                    fmt::join(names, ", ")));
      }
      if (std::find_if(found + 1, header.end(), is_named(field)) != header.end()) {
        throw BadRecord(fmt::format("the column `{}` stands there twice", field.name));
      }
      columns.push_back(static_cast<std::size_t>(found - header.begin()));
    }
    cells_in_line_ = header.size();
    columns_ = std::move(columns);
  }

  void read(const LogEntry& entry) {
    try {
      rows_.push_back(parse(entry.bytes));
    } catch (const BadRecord& bad) {
      if (description_.on_bad_record == OnBadRecord::skip) {
        ++skipped_;
        return;
      }
      throw_bad_record(partition_, entry.at.line, bad.what());
    }
  }

  Row parse(std::string_view line) {
    const std::vector<CsvCell>& cells = line_.cut(line);
    if (cells.size() != cells_in_line_) {
      throw BadRecord(fmt::format("{} cells; {} are expected, as in the first line", cells.size(),
                                  cells_in_line_));
    }
    Row row(static_cast<std::uint32_t>(columns_.size()));
    for (std::uint32_t i = 0; i < columns_.size(); ++i) set(row, i, cells[columns_[i]]);
    check_time(description_, row);
    return row;
  }

  void set(Row& row, std::uint32_t i, CsvCell cell) const {
    const Field& field = description_.fields[i];
    if (cell.text.empty() && !cell.is_quoted && field.nullable) return;
    switch (field.type) {
      case FieldType::integer:
        if (const auto integer = whole_of<std::int64_t>(cell.text)) {
          return row.set_integer(i, *integer);
        }
        break;
      case FieldType::real:
        if (const auto real = real_of(cell.text)) return row.set_real(i, *real);
        break;
      case FieldType::text: return row.set_text(i, cell.text);
    }
    throw BadRecord(fmt::format("the field `{}` is {}; {} is expected", field.name,
                                cell.text.empty() ? "empty" : fmt::format("`{}`", cell.text),
                                expected_of(field.type)));
  }

  const WrittenRows& description_;
  Env env_;
  std::string partition_;
  Position from_;  ///< Where reading goes on when the first line is known.
  std::int64_t end_;
  std::unique_ptr<PartitionReader> reader_;
  Position position_;
  std::uint64_t skipped_ = 0;
  std::size_t cells_in_line_ = 0;
  std::vector<std::size_t> columns_;  ///< Of each field. Empty: the first line was not read yet.
  CsvLine line_;
  std::vector<Row> rows_;
};

}  // namespace

Source<Row> csv_rows(WrittenRows rows) {
  Source<Row> source;
  source.kind = "csv";
  source.address = rows.address;
  const auto shared = std::make_shared<const WrittenRows>(std::move(rows));
  source.open = [shared](Env& env, const std::string& partition, Position from, std::int64_t end) {
    return std::make_unique<CsvRowReader>(*shared, env, partition, from, end);
  };
  return source;
}

}  // namespace millrace
