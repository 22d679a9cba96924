// A shared library opened at run time, so that the program starts where it is missing.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/result.h"

namespace roofcal::microbench {

class DynamicLibrary {
 public:
  /// The first of the names that can be loaded. Errors: io, naming all of them and the loader's last word.
  [[nodiscard]] static Result<DynamicLibrary> open(std::span<const std::string> names);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// nullptr where the library has no such function.
  template <class Function>
  [[nodiscard]] Function* function(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }
  /// Fills a pointer. Errors: io, naming library and function.
  template <class Function>
  [[nodiscard]] Result<void> need(const char* symbol, Function*& out) const {
    out = function<Function>(symbol);
    if (out != nullptr) return {};
    return Error{ErrorCode::io, name_ + " has no " + symbol + ": it is older than this program needs"};
  }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  DynamicLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  [[nodiscard]] void* address(const char* symbol) const;

  std::string name_;
  std::unique_ptr<void, Close> handle_;
};

}  // namespace roofcal::microbench
