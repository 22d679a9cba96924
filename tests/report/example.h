// A report with one value of every kind.
#pragma once

#include <memory>

#include "report/report.h"

namespace roofcal::report::testing {

inline Report example(bool single) {
  Report points;
  points.columns = {{"distance", "distance"}, {"time_s", "time", Unit::seconds}};
  points.records = {{0.5, std::monostate()}, {1.25, 2e-6}};
  Object counts{{{"measured", "measured"}, {"interpolated", "interpolated"}}, {std::int64_t{2}, std::int64_t{3}}};
  Report out;
  out.single = single;
  out.columns = {{"name", "name"},
                 {"time_s", "time", Unit::seconds},
                 {"share", "share", Unit::fraction},
                 {"for_people", "only people", Unit::none, Audience::people},
                 {"for_programs", "only programs", Unit::none, Audience::programs},
                 {"ok", "ok"},
                 {"counts", "counts"},
                 {"warnings", "warnings"},
                 {"points", "points"}};
  out.records.push_back({"a, \"quoted\" name", 0.000812375, 0.684, "seen", std::int64_t{7}, true,
                         std::make_shared<const Object>(counts), std::vector<std::string>{"one", "two"},
                         std::make_shared<const Report>(points)});
  if (!single) {
    out.records.push_back({"b", std::monostate(), std::monostate(), "seen", std::int64_t{8}, false,
                           std::make_shared<const Object>(), std::vector<std::string>(),
                           std::make_shared<const Report>(points)});
  }
  return out;
}

}  // namespace roofcal::report::testing
