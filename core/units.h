// Strong unit types: a quantity carries its dimension in its type, so that adding seconds to bytes does not compile.
// Header only, constexpr throughout, so that nvcc compiles it for host and device (--expt-relaxed-constexpr).
#pragma once

#include <compare>

namespace roofcal {

/// A physical quantity with the exponents of time (s), data (bytes), work (FLOPs) and power (W) in its type.
template <int Time, int Data, int Work, int Power>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  /// The magnitude in SI base units (seconds, bytes, FLOPs, watts and their products).
  [[nodiscard]] constexpr double value() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double s) { return Quantity(a.value_ * s); }
  friend constexpr Quantity operator*(double s, Quantity a) { return Quantity(a.value_ * s); }
  friend constexpr Quantity operator/(Quantity a, double s) { return Quantity(a.value_ / s); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }

 private:
  double value_ = 0.0;
};

namespace detail {
template <int T, int D, int W, int P>
constexpr auto make_quantity(double value) {
  if constexpr (T == 0 && D == 0 && W == 0 && P == 0) {
    return value;  // a ratio of like quantities is a plain number
  } else {
    return Quantity<T, D, W, P>(value);
  }
}
}  // namespace detail

template <int T1, int D1, int W1, int P1, int T2, int D2, int W2, int P2>
constexpr auto operator*(Quantity<T1, D1, W1, P1> a, Quantity<T2, D2, W2, P2> b) {
  return detail::make_quantity<T1 + T2, D1 + D2, W1 + W2, P1 + P2>(a.value() * b.value());
}

template <int T1, int D1, int W1, int P1, int T2, int D2, int W2, int P2>
constexpr auto operator/(Quantity<T1, D1, W1, P1> a, Quantity<T2, D2, W2, P2> b) {
  return detail::make_quantity<T1 - T2, D1 - D2, W1 - W2, P1 - P2>(a.value() / b.value());
}

using Seconds = Quantity<1, 0, 0, 0>;
using Hertz = Quantity<-1, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0>;
using FlopsPerByte = Quantity<0, -1, 1, 0>;  // arithmetic intensity
using Watts = Quantity<0, 0, 0, 1>;

}  // namespace roofcal
