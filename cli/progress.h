// A progress bar for work over a second, on a terminal only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/session.h"

namespace roofcal::cli {

class Progress {
 public:
  /// `total` 0: unknown, a count is shown instead of a bar.
  Progress(Session& session, std::string what, std::int64_t total);
  /// Wipes the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough for every row.
  void at(std::int64_t done) {
    if (terminal_ && (done & kMask) == 0) draw(done);
  }
  /// For steps that take long: looks at the clock each time.
  void step(std::int64_t done) {
    if (terminal_) draw(done);
  }
  /// Wipes the bar, so that a message can be printed; the next step draws it anew.
  void clear();

 private:
  static constexpr std::int64_t kMask = 0x3FF;
  void draw(std::int64_t done);

  using Clock = std::chrono::steady_clock;
  Session& session_;
  std::string what_;
  std::int64_t total_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace roofcal::cli
