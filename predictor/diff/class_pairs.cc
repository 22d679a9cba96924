#include "predictor/diff/class_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "predictor/resolve.h"

namespace roofcal {
namespace {

using Keys = std::set<ClassKey>;

// What a level of pairing looks away from.
enum class Level { nothing, version, kernel, framework };

ClassKey group_of(ClassKey key, Level level) {
  if (level >= Level::version) key.version.clear();
  if (level >= Level::kernel) key.kernel.clear();
  if (level >= Level::framework) key.framework.clear();
  return key;
}

std::map<ClassKey, std::vector<ClassKey>> groups_of(const Keys& keys, Level level) {
  std::map<ClassKey, std::vector<ClassKey>> groups;
  for (const ClassKey& key : keys) groups[group_of(key, level)].push_back(key);
  return groups;
}

// Classes of the preferred framework's newest version.
std::vector<ClassKey> standing(std::vector<ClassKey> keys) {
  std::vector<std::string> frameworks;
  for (const ClassKey& key : keys) frameworks.push_back(key.framework);
  const std::string framework = preferred_framework(frameworks);
  std::erase_if(keys, [&](const ClassKey& key) { return key.framework != framework; });
  const std::string version = std::ranges::max_element(keys, [](const ClassKey& a, const ClassKey& b) {
                                return compare_versions(a.version, b.version) < 0;
                              })->version;
  std::erase_if(keys, [&](const ClassKey& key) { return key.version != version; });
  return keys;
}

void remove(Keys& from, std::span<const ClassKey> keys) {
  for (const ClassKey& key : keys) from.erase(key);
}

}  // namespace

ClassPairs pair_classes(std::span<const ClassKey> before, std::span<const ClassKey> after) {
  Keys left(before.begin(), before.end());
  Keys right(after.begin(), after.end());
  ClassPairs out;
  for (const Level level : {Level::nothing, Level::version, Level::kernel, Level::framework}) {
    const auto right_groups = groups_of(right, level);
    for (const auto& [group, keys] : groups_of(left, level)) {
      const auto match = right_groups.find(group);
      if (match == right_groups.end()) continue;
      out.pairs.push_back({standing(keys), standing(match->second)});
      remove(left, out.pairs.back().before);
      remove(right, out.pairs.back().after);
    }
  }
  std::ranges::sort(out.pairs, {}, [](const ClassPair& pair) { return pair.before.front(); });
  out.only_before.assign(left.begin(), left.end());
  out.only_after.assign(right.begin(), right.end());
  return out;
}

}  // namespace roofcal
