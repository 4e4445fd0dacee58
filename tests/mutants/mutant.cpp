#include "mutant.hpp"

std::string millrace::mutants::active;
