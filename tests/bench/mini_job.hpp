#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace millrace::bench {

/// What a mini job writes to: counts per key, with the number of the checkpoint they are of.
class MiniTable {
 public:
  struct Row {
    std::uint64_t key;
    std::uint64_t count;
  };
  virtual ~MiniTable() = default;
  /// Adds rows and sets the marker, in one transaction.
  virtual void publish(std::uint64_t checkpoint, const std::vector<Row>& rows) = 0;
  virtual std::uint64_t marker() = 0;
  virtual std::vector<Row> rows() = 0;
};
std::unique_ptr<MiniTable> make_memory_mini_table();
/// SQLite without any file.
std::unique_ptr<MiniTable> make_sqlite_mini_table();

/// One run of the least that does what a simulated run of Millrace does: records, one message each,
/// go from a source to two keyed counters; ten aligned barriers; counts since the last one are
/// staged and snapshots taken; acknowledgements complete a checkpoint, which is published; one
/// crash ends every fiber and goes back to what is complete; the table is compared with the truth
/// after each publish. All on a MiniLoop: nothing is encoded, parsed, named, drawn or traced.
///
/// Throws std::runtime_error: the table is not what it must be.
void run_mini_job(std::uint64_t seed, MiniTable& table);

}  // namespace millrace::bench
