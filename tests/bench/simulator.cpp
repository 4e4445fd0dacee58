// How fast the simulator is, against hand-written loops that do the least of the same.
//
//   simulator [--json] [--only=PART-OF-A-NAME]

#include "simulator.hpp"

int main(int argc, char** argv) {
  const millrace::bench::Report report(argc, argv);
  millrace::bench::calibrate(report);
  millrace::bench::bench_switch(report);
  millrace::bench::bench_messages(report);
  millrace::bench::bench_runs(report);
}
