#pragma once

namespace millrace {

/// The `millrace` command line: what a program's `main` returns.
int run_tool(int argc, char** argv);

}  // namespace millrace
