#include <unistd.h>

#include <iostream>

#include "cli/app.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return roofcal::cli::run(argc, argv, std::cout, std::cerr, isatty(STDERR_FILENO) == 1);
}
