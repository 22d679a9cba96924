#include "core/units.h"

using namespace roofcal;

#ifdef WRONG
constexpr Seconds time = Bytes(8.0);
#else
constexpr Seconds time = Bytes(8.0) / BytesPerSecond(2.0);
#endif
