// SHA-256, for content hashes: of samples, runs, files. OpenSSL computes it.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roofcal {

using Sha256Digest = std::array<unsigned char, 32>;

/// Usable again after finish(), which starts anew.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void add(const void* data, std::size_t bytes);
  void add(std::string_view text) { add(text.data(), text.size()); }
  [[nodiscard]] Sha256Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

[[nodiscard]] std::string hex(std::string_view bytes);
[[nodiscard]] inline std::string_view bytes_of(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// Of a file's bytes, as hexadecimal digits.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& file);

}  // namespace roofcal
