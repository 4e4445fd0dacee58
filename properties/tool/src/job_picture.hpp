#pragma once

#include <string>

#include "millrace/runtime/job/layout.hpp"

#include "job_loading.hpp"

namespace millrace::tool {

/// A job as a picture: a box for each chain of operators that share a task, from left to right as
/// rows go, how rows get from one to the next, and what each table promises.
///
/// SVG that needs nothing beside itself, and follows the reader's choice of light or dark.
std::string picture_of(const RealJob& real, const Layout& layout);

}  // namespace millrace::tool
