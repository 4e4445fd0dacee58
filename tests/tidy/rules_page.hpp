#pragma once

#include <string>
#include <vector>

#include "tree.hpp"

namespace millrace::tidy {

/// What is wrong with the page that says what holds each rule (runtime/RULES.md), a sentence each.
///
/// The rules of each family are numbered from 1, each of them once. Below each stands what holds
/// it, or stands for it; all that is named there is there: tests, by their programs, files, and
/// sections of the protocol. The page counts its rules. Pure.
std::vector<std::string> wrong_on_page(const std::string& page, const Tree& tree);

}  // namespace millrace::tidy
