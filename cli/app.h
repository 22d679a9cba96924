// The program: reads the command line, runs the verb, maps what went wrong to one line and an exit status.
#pragma once

#include <iosfwd>

namespace roofcal::cli {

/// Exit status: 0 done, 1 failed, 2 usage, 3 nothing that could answer. `terminal`: whether a person watches `err`.
[[nodiscard]] int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err, bool terminal);

}  // namespace roofcal::cli
