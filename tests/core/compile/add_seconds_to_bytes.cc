#include "core/units.h"

using namespace roofcal;

#ifdef WRONG
constexpr auto sum = Seconds(1.0) + Bytes(1.0);
#else
constexpr auto sum = Seconds(1.0) + Seconds(1.0);
#endif
