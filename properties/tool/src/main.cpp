#include "millrace/nexmark/registered_jobs.hpp"
#include "millrace/tool/main.hpp"

int main(int argc, char** argv) {
  return millrace::run_tool(argc, argv, millrace::nexmark::registered_jobs());
}
