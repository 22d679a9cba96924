#include "core/units.h"

using namespace roofcal;

constexpr Seconds transfer(Bytes amount, BytesPerSecond bandwidth) { return amount / bandwidth; }
#ifdef WRONG
constexpr Seconds time = transfer(BytesPerSecond(2.0), Bytes(8.0));
#else
constexpr Seconds time = transfer(Bytes(8.0), BytesPerSecond(2.0));
#endif
