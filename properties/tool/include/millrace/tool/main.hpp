#pragma once

#include <vector>

#include "millrace/properties/user_job.hpp"

namespace millrace {

/// The `millrace` command line: what a program's `main` returns.
///
/// A program of one's own brings its jobs, and every command knows them by their names:
///
///     int main(int argc, char** argv) {
///       return millrace::run_tool(argc, argv, {hot_items()});
///     }
///
/// `./program test hot_items --seeds 1000`, `./program run hot_items`.
int run_tool(int argc, char** argv, const std::vector<properties::UserJob>& jobs = {});

}  // namespace millrace
