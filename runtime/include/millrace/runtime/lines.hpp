#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/env/error.hpp"
#include "millrace/runtime/source.hpp"
#include "millrace/runtime/source/bad_record.hpp"

namespace millrace {

/// Reads the lines of one partition into rows of T.
template <class T, class Parse>
class LineReader final : public SourceReader<T> {
 public:
  LineReader(Parse parse, OnBadRecord on_bad_record, std::string partition,
             std::unique_ptr<PartitionReader> reader, Position from)
      : parse_(std::move(parse)),
        on_bad_record_(on_bad_record),
        partition_(std::move(partition)),
        reader_(std::move(reader)),
        position_(from) {}

  Reading<T> next(std::size_t most) override {
    using Then = typename Reading<T>::Then;
    rows_.clear();
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
      rows_.push_back(parse_(entry.bytes));
    } catch (const WorldError&) {
      throw;
    } catch (const std::exception& bad) {
      if (on_bad_record_ == OnBadRecord::fail) {
        throw_bad_record(partition_, entry.at.line, bad.what());
      }
      ++skipped_;
    }
  }

  Parse parse_;
  OnBadRecord on_bad_record_;
  std::string partition_;
  std::unique_ptr<PartitionReader> reader_;
  Position position_;
  std::uint64_t skipped_ = 0;
  std::vector<T> rows_;
};

/// Rows of one's own format, one a line: `parse(line)` makes a T of a line without its end, as a
/// pure function.
///
///     Visit parse_visit(std::string_view line);  // throws BadRecord("a user is expected")
///     from("visits", text_lines<Visit>("visits/*.csv", &parse_visit)).event_time<&Visit::at>(...)
///
/// Whatever std::exception `parse` throws means that the line cannot be read: the job ends with a
/// JobFailed that names partition and line, or the line is counted and passed over. Blank lines are
/// none: the log passes over them. Event times must be within the years 1 to 9999; `parse` is the
/// place to see to it. An example that runs is in tests/unit/runtime/operator_examples_test.cpp.
template <class T, class Parse>
  requires std::convertible_to<std::invoke_result_t<const Parse&, std::string_view>, T>
Source<T> text_lines(std::string address, Parse parse,
                     OnBadRecord on_bad_record = OnBadRecord::fail) {
  Source<T> source;
  source.kind = "lines";
  source.address = address;
  source.open = [address = std::move(address), parse = std::move(parse), on_bad_record](
                    Env& env, const std::string& partition, Position from, std::int64_t end) {
    auto reader = env.log.open(address, partition, from, end);
    reader->bind(env.parker);
    return std::make_unique<LineReader<T, Parse>>(parse, on_bad_record, partition,
                                                  std::move(reader), from);
  };
  return source;
}

}  // namespace millrace
