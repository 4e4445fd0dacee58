#include "millrace/tool/main.hpp"

#include "millrace/nexmark/registered_jobs.hpp"

int main(int argc, char** argv) {
  return millrace::run_tool(argc, argv, millrace::nexmark::registered_jobs());
}
