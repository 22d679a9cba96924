#include "core/units.h"

using namespace roofcal;

#ifdef WRONG
constexpr bool more = Flops(1.0) > Bytes(1.0);
#else
constexpr bool more = Flops(1.0) / Bytes(1.0) > FlopsPerByte(1.0);
#endif
