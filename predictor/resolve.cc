#include "predictor/resolve.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace roofcal {
namespace {

// Splits "1.3.0rc10" into "1" "3" "0" "rc" "10": runs of digits and of letters.
std::vector<std::string> version_parts(std::string_view version) {
  std::vector<std::string> parts;
  char kind = 0;
  for (const char c : version) {
    const auto u = static_cast<unsigned char>(c);
    const char now = std::isdigit(u) != 0 ? 'd' : std::isalpha(u) != 0 ? 'a' : 0;
    if (now == 0) {
      kind = 0;
      continue;
    }
    if (now != kind) {
      parts.emplace_back();
    }
    parts.back().push_back(c);
    kind = now;
  }
  return parts;
}

// A pre-release tag ("rc") sorts before the end of the version, a number after it.
int rank(const std::string* part) {
  if (part == nullptr) return 1;
  return std::isdigit(static_cast<unsigned char>(part->front())) != 0 ? 2 : 0;
}

// Of the experiments within an architecture: the half-width, and how far apart H100 and H200 are in ln of their figures
// (bandwidth 0.36, L2 0.18).
constexpr double kWithin = 0.15;
constexpr double kAcross = 0.8;
constexpr double kApartSeen = 0.54;

double apart(const GpuSpec& a, const GpuSpec& b) {
  const auto gap = [](double x, double y) { return x > 0.0 && y > 0.0 ? std::abs(std::log(x / y)) : 0.0; };
  double peaks = 0.0;
  for (std::size_t i = 0; i < a.peaks.size(); ++i) {
    peaks = std::max(peaks, gap(a.peaks[i].value(), b.peaks[i].value()));
  }
  return peaks + gap(a.memory_bandwidth.value(), b.memory_bandwidth.value()) + gap(a.l2.value(), b.l2.value()) +
         gap(static_cast<double>(a.sm_count), static_cast<double>(b.sm_count)) +
         gap(a.boost_clock.value(), b.boost_clock.value()) +
         gap(a.nvlink_bandwidth.value(), b.nvlink_bandwidth.value());
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  const auto x = version_parts(a);
  const auto y = version_parts(b);
  for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    const std::string* p = i < x.size() ? &x[i] : nullptr;
    const std::string* q = i < y.size() ? &y[i] : nullptr;
    if (rank(p) != rank(q)) return rank(p) - rank(q);
    if (p == nullptr) continue;
    if (rank(p) == 2 && p->size() != q->size()) return p->size() < q->size() ? -1 : 1;  // longer number, larger number
    if (const int order = p->compare(*q); order != 0) return order;
  }
  return 0;
}

std::string preferred_framework(std::span<const std::string> frameworks) {
  for (const std::string_view favourite : {"trtllm", "vllm", "sglang"}) {
    if (std::ranges::find(frameworks, favourite) != frameworks.end()) {
      return std::string(favourite);
    }
  }
  return *std::ranges::min_element(frameworks);
}

double transfer_distance(const GpuSpec& donor, const GpuSpec& target, Rate rate) {
  const auto gap = [](double a, double b) { return a > 0.0 && b > 0.0 ? std::abs(std::log(a / b)) : 3.0; };
  const double other_architecture = donor.architecture == target.architecture ? 0.0 : 10.0;
  return other_architecture + gap(donor.peak(rate).value(), target.peak(rate).value()) +
         gap(donor.memory_bandwidth.value(), target.memory_bandwidth.value()) +
         gap(static_cast<double>(donor.sm_count), static_cast<double>(target.sm_count));
}

double transfer_log_halfwidth(const GpuSpec& donor, const GpuSpec& target) {
  // Twice the MAPE seen is about the 90 % quantile of the absolute log error.
  const double seen = donor.architecture == target.architecture ? kWithin : kAcross;
  return std::max(seen, kWithin * apart(donor, target) / kApartSeen);
}

}  // namespace roofcal
