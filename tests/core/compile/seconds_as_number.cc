#include "core/units.h"

using namespace roofcal;

#ifdef WRONG
constexpr double time = Seconds(1e-6);
#else
constexpr double time = Seconds(1e-6).value();
#endif
