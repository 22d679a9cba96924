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
  return donor.architecture == target.architecture ? 0.15 : 0.8;
}

}  // namespace roofcal
