#include "nexmark_queries.hpp"

#include "millrace/nexmark/jobs.hpp"

#include "real_run.hpp"

namespace millrace::bench {
namespace {

using nexmark::Event;

template <class Row>
auto running(Job (*job)(const Source<Event>&, const Sink<Row>&)) {
  return [job](const Source<Event>& events) {
    const TallySink<Row> rows;
    run_for_real(job(events, rows.sink()));
    return rows.tally();
  };
}

}  // namespace

std::span<const Query> queries() {
  using namespace nexmark;
  // Of q12 the rows are a clock's, and of q17 the floor checks those that are the last of their
  // key.
  static const Query list[] = {
      {"q0", running(q0), true, true, 0.5, 0.8},    {"q1", running(q1), true, true, 0.5, 0.8},
      {"q2", running(q2), true, true, 0.5, 0.8},    {"q4", running(q4), true, true, 0.3, 0.6},
      {"q5", running(q5), true, true, 0.5, 0.8},    {"q7", running(q7), true, true, 0.3, 0.6},
      {"q8", running(q8), true, true, 0.3, 0.6},    {"q11", running(q11), true, true, 0.3, 0.6},
      {"q12", running(q12), false, true, 0.3, 0.6}, {"q17", running(q17), true, false, 0.3, 0.6},
      {"q5-1M", running(q5), true, true, 0.5, 0.8},
  };
  return list;
}

}  // namespace millrace::bench
