#pragma once

#include <cstdint>
#include <memory>

#include "millrace/runtime/job.hpp"
#include "millrace/runtime/sink.hpp"

#include "nexmark_tally.hpp"

namespace millrace::bench {

/// Runs a job to its end in the real world, as `millrace run` does: coordinator, workers and
/// uploaders in threads, a checkpoint every second and one at the end, exactly once. The store is a
/// directory in memory, and there is no database.
///
/// Throws what ended the job, and std::runtime_error: it did not finish.
void run_for_real(const Job& job, std::uint32_t parallelism = 1);

/// Most subtasks that a TallySink counts for.
inline constexpr int most_subtasks = 8;

/// Looks at each row once, where a table would write it away.
template <class Row>
class TallySink {
 public:
  Sink<Row> sink() const {
    Sink<Row> sink;
    sink.kind = "tally";
    sink.open = [parts = parts_](const StageContext& context, const std::string& name) {
      return std::make_unique<Counting>(parts->of[context.at.index], name);
    };
    return sink;
  }
  Tally tally() const {
    Tally all;
    for (const Part& part : parts_->of) {
      all.rows += part.tally.rows;
      all.check += part.tally.check;
    }
    return all;
  }

 private:
  struct alignas(64) Part {  // Subtasks run in threads of their own.
    Tally tally;
  };
  struct Parts {
    Part of[most_subtasks];
  };

  class Counting final : public Consumer<Row> {
   public:
    Counting(Part& part, std::string name) : part_(part), name_(std::move(name)) {}
    void take(Batch<Row>& rows) override {
      Tally tally = part_.tally;
      for (const Record<Row>& row : rows) tally.add(row.value);
      part_.tally = tally;
    }
    void watermark(EventTime) override {}
    void set_idle(bool) override {}
    void flush() override {}
    void link(Way, Stage&) override {}
    void save(Snapshot& snapshot) override { snapshot.sinks.push_back(name_); }

   private:
    Part& part_;
    std::string name_;
  };

  std::shared_ptr<Parts> parts_ = std::make_shared<Parts>();
};

}  // namespace millrace::bench
