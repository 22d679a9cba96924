// The options of a family of operators, made from what the operators say about themselves.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/operator.h"

namespace roofcal::cli {

/// Operators of one command-line word, in the order of all_operators().
struct Family {
  std::string name;
  std::vector<const Operator*> operators;
};
[[nodiscard]] std::vector<Family> operator_families();

/// Must stay where it is once add_options() was called: the options write into it.
class OperatorArguments {
 public:
  explicit OperatorArguments(Family family);

  /// An option a field and attribute, and --phase where the family has several operators.
  void add_options(CLI::App& verb);

  /// The operator that --phase chose.
  [[nodiscard]] Result<const Operator*> chosen() const;
  /// One call for every combination of the values given; the last field varies fastest. Errors name the flag.
  [[nodiscard]] Result<std::vector<Call>> calls(const Operator& op) const;

 private:
  Family family_;
  std::string phase_;
  std::map<std::string, std::string, std::less<>> texts_;  // by flag name, empty when not given
};

}  // namespace roofcal::cli
