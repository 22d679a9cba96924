#include "core/units.h"

using namespace roofcal;

// The bug that the types are there for: a rate divided by an amount is not a time.
#ifdef WRONG
constexpr Seconds time = FlopsPerSecond(1e15) / Flops(1e12);
#else
constexpr Seconds time = Flops(1e12) / FlopsPerSecond(1e15);
#endif
