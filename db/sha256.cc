#include "db/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <vector>

namespace roofcal {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();

  Context() {
    // Both fail only for want of memory: SHA-256 is part of every build of OpenSSL.
    if (evp == nullptr || EVP_DigestInit_ex(evp, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_->evp, data, bytes); }

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr);
  EVP_DigestInit_ex(context_->evp, nullptr, nullptr);  // the same algorithm again
  return digest;
}

std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    out.push_back(digits[static_cast<unsigned char>(c) >> 4U]);
    out.push_back(digits[static_cast<unsigned char>(c) & 15U]);
  }
  return out;
}

Result<std::string> sha256_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{ErrorCode::io, fmt::format("{}: {}", file.string(), std::strerror(errno))};
  Sha256 hash;
  std::vector<char> buffer(1U << 16U);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return Error{ErrorCode::io, fmt::format("{}: {}", file.string(), std::strerror(errno))};
  return hex(bytes_of(hash.finish()));
}

}  // namespace roofcal
