#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace roofcal::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr std::int64_t kBarWidth = 30;

}  // namespace

Progress::Progress(Session& session, std::string what, std::int64_t total)
    : session_(session),
      what_(std::move(what)),
      total_(total),
      terminal_(session.terminal()),
      next_(Clock::now() + kPatience) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) session_.err() << "\r\033[K" << std::flush;
  drawn_ = false;
}

void Progress::draw(std::int64_t done) {
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kRefresh;
  drawn_ = true;
  if (total_ <= 0) {
    session_.err() << fmt::format("\r{} {}\033[K", what_, done) << std::flush;
    return;
  }
  const std::int64_t filled = std::clamp<std::int64_t>(done * kBarWidth / total_, 0, kBarWidth);
  session_.err() << fmt::format("\r{} [{:=<{}}{: <{}}] {}/{}\033[K", what_, "", filled, "", kBarWidth - filled, done,
                                total_)
                 << std::flush;
}

}  // namespace roofcal::cli
