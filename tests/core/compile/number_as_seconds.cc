#include "core/units.h"

using namespace roofcal;

#ifdef WRONG
constexpr Seconds time = 1e-6;  // microseconds? milliseconds? Only an explicit Seconds(...) says
#else
constexpr Seconds time = Seconds(1e-6);
#endif
