// Result<T>: a value or an Error that says what went wrong and what to do about it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace roofcal {

/// The kinds of failure that a caller has to tell apart; `exit_status` maps them to the contract of the command line.
enum class ErrorCode {
  bad_data,        ///< a file, row or store holds something it must not
  missing_column,  ///< a table lacks a column that none of its rows can do without
  io,              ///< the operating system said no
  usage,           ///< the question itself is malformed
  not_calibrated,  ///< nothing calibrated can answer
  no_gpu,          ///< the work needs a GPU and there is none
};

struct Error {
  ErrorCode code;
  std::string message;  ///< one line: file, line, value and what to do
};

/// Process exit status for an error: 1 failed, 2 usage, 3 nothing that could answer.
[[nodiscard]] constexpr int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return 2;
    case ErrorCode::not_calibrated:
    case ErrorCode::no_gpu:
      return 3;
    case ErrorCode::bad_data:
    case ErrorCode::missing_column:
    case ErrorCode::io:
      break;
  }
  return 1;
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Precondition: ok().
  [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Precondition: !ok().
  [[nodiscard]] const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace roofcal
