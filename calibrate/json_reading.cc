#include "calibrate/json_reading.h"

#include <cmath>
#include <stdexcept>

namespace roofcal {

using nlohmann::json;

void require(bool condition, std::string_view message) {
  if (!condition) throw std::invalid_argument(std::string(message));
}

const json& member(const json& object, const char* name) {
  require(object.is_object() && object.contains(name), std::string("member \"") + name + "\" is missing");
  return object[name];
}

double read_number(const json& object, const char* name, double lo, double hi) {
  const json& value = member(object, name);
  require(value.is_number(), std::string("\"") + name + "\" is not a number");
  const auto number = value.get<double>();
  require(number >= lo && number <= hi, std::string("\"") + name + "\" = " + value.dump() + " is out of range");
  return number;
}

std::int64_t read_integer(const json& object, const char* name, std::int64_t lo, std::int64_t hi) {
  const json& value = member(object, name);
  require(value.is_number_integer(), std::string("\"") + name + "\" is not a whole number");
  const auto number = value.get<std::int64_t>();
  require(number >= lo && number <= hi, std::string("\"") + name + "\" = " + value.dump() + " is out of range");
  return number;
}

bool read_bool(const json& object, const char* name) {
  const json& value = member(object, name);
  require(value.is_boolean(), std::string("\"") + name + "\" is neither true nor false");
  return value.get<bool>();
}

std::string read_string(const json& object, const char* name) {
  const json& value = member(object, name);
  require(value.is_string(), std::string("\"") + name + "\" is not a string");
  return value.get<std::string>();
}

std::vector<double> read_numbers(const json& object, const char* name, std::int64_t size) {
  const json& values = member(object, name);
  require(values.is_array(), std::string("\"") + name + "\" is not an array");
  require(
      size < 0 || values.size() == static_cast<std::size_t>(size),
      std::string("\"") + name + "\" holds " + std::to_string(values.size()) + " numbers, not " + std::to_string(size));
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const json& value : values) {
    require(value.is_number() && std::isfinite(value.get<double>()),
            std::string("\"") + name + "\" holds something that is not a finite number");
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

}  // namespace roofcal
