#include "millrace/runtime/source/json_rows.hpp"

#include <fmt/format.h>

// The only file that knows simdjson.
#include <cmath>

#include <simdjson.h>

#include "millrace/env/error.hpp"

namespace millrace {
namespace {

namespace dom = simdjson::dom;

std::string_view found_in(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY: return "an array";
    case dom::element_type::OBJECT: return "an object";
    case dom::element_type::INT64: return "an integer";
    case dom::element_type::UINT64: return "an integer beyond int64";
    case dom::element_type::DOUBLE: return "a fraction";
    case dom::element_type::STRING: return "a string";
    case dom::element_type::BOOL: return "a boolean";
    case dom::element_type::NULL_VALUE: return "null";
  }
  return "something else";
}

class JsonRowReader final : public SourceReader<Row> {
 public:
  JsonRowReader(const WrittenRows& description, std::string partition,
                std::unique_ptr<PartitionReader> reader, Position from)
      : description_(description),
        partition_(std::move(partition)),
        reader_(std::move(reader)),
        position_(from),
        values_(description.fields.size()) {}

  Reading<Row> next(std::size_t most) override {
    rows_.clear();
    using Then = Reading<Row>::Then;
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

  Position position() const override { return position_; }
  std::uint64_t skipped() const override { return skipped_; }

 private:
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
    dom::element document;
    // The log promises that 64 bytes behind an entry may be read, which is what simdjson needs.
    if (const auto error = parser_.parse(line.data(), line.size(), false).get(document)) {
      throw BadRecord(fmt::format("this is not JSON: {}", simdjson::error_message(error)));
    }
    dom::object object;
    if (document.get(object) != simdjson::SUCCESS) {
      throw BadRecord(fmt::format("a JSON object is expected, not {}", found_in(document)));
    }
    collect(object);
    Row row(static_cast<std::uint32_t>(description_.fields.size()));
    for (std::uint32_t i = 0; i < description_.fields.size(); ++i) set(row, i);
    check_time(description_, row);
    return row;
  }

  /// Notes where each declared field's value is.
  void collect(dom::object object) {
    for (auto& value : values_) value.reset();
    std::size_t likely = 0;  // Fields mostly come in the order in which they are declared.
    for (const dom::key_value_pair pair : object) {
      const auto& fields = description_.fields;
      for (std::size_t tried = 0; tried < fields.size(); ++tried) {
        const std::size_t i = (likely + tried) % fields.size();
        if (fields[i].name != pair.key) continue;
        if (values_[i]) throw BadRecord(fmt::format("the field `{}` stands there twice", pair.key));
        values_[i] = pair.value;
        likely = i + 1;
        break;
      }
    }
  }

  void set(Row& row, std::uint32_t i) {
    const Field& field = description_.fields[i];
    if (!values_[i] || values_[i]->is_null()) {
      if (field.nullable) return;
      throw BadRecord(fmt::format("the field `{}` is {}; {} is expected", field.name,
                                  values_[i] ? "null" : "missing", expected_of(field.type)));
    }
    const dom::element value = *values_[i];
    switch (field.type) {
      case FieldType::integer: {
        std::int64_t integer = 0;
        if (value.get(integer) != simdjson::SUCCESS || !value.is_int64()) mismatch(field, value);
        row.set_integer(i, integer);
        break;
      }
      case FieldType::real: {
        double real = 0;
        if (value.get(real) != simdjson::SUCCESS || !std::isfinite(real)) mismatch(field, value);
        row.set_real(i, real == 0 ? 0.0 : real);  // -0 and 0 are one number with two spellings.
        break;
      }
      case FieldType::text: {
        std::string_view text;
        if (value.get(text) != simdjson::SUCCESS) mismatch(field, value);
        row.set_text(i, text);
        break;
      }
    }
  }

  [[noreturn]] static void mismatch(const Field& field, dom::element value) {
    throw BadRecord(fmt::format("the field `{}` is {}; {} is expected", field.name, found_in(value),
                                expected_of(field.type)));
  }

  const WrittenRows& description_;
  std::string partition_;
  std::unique_ptr<PartitionReader> reader_;
  Position position_;
  std::uint64_t skipped_ = 0;
  dom::parser parser_;
  std::vector<std::optional<dom::element>> values_;
  std::vector<Row> rows_;
};

}  // namespace

Source<Row> json_rows(WrittenRows rows) {
  Source<Row> source;
  source.kind = "jsonl";
  source.address = rows.address;
  const auto shared = std::make_shared<const WrittenRows>(std::move(rows));
  source.open = [shared](Env& env, const std::string& partition, Position from, std::int64_t end) {
    auto reader = env.log.open(shared->address, partition, from, end);
    reader->bind(env.parker);
    return std::make_unique<JsonRowReader>(*shared, partition, std::move(reader), from);
  };
  return source;
}

}  // namespace millrace
