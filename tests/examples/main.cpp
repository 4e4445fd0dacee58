#include "millrace/tool/main.hpp"

#include "example_jobs.hpp"

// All that a program needs to have its jobs run, tested, replayed and shrunk.
int main(int argc, char** argv) {
  return millrace::run_tool(argc, argv, millrace::examples::all());
}
