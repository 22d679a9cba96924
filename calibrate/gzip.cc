#include "calibrate/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace roofcal {
namespace {

constexpr int kGzipWindow = 15 + 16;
constexpr int kUnknownSystem = 255;

// A gzip file ends with the size of what it holds (RFC 1952, section 2.3.1): a hint only, since it may be damaged.
std::size_t promised_size(std::string_view packed) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4 && i < packed.size(); ++i) {
    size = size << 8U | static_cast<unsigned char>(packed[packed.size() - 1 - i]);
  }
  return std::clamp<std::size_t>(size, 1024, 16 * packed.size() + 1024);
}

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

}  // namespace

std::string gzip_compress(std::string_view plain) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // the only way it can fail
  }
  gz_header header{};
  header.os = kUnknownSystem;
  deflateSetHeader(&stream, &header);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = bytes_of(plain);
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = bytes_of(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Result<std::string> gzip_decompress(std::string_view packed, std::size_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
  stream.next_in = bytes_of(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string plain(std::min(limit, promised_size(packed)), '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.total_out == plain.size()) {
      if (plain.size() >= limit) break;
      plain.resize(std::min(limit, 2 * plain.size()));
    }
    stream.next_out = bytes_of(plain) + stream.total_out;
    stream.avail_out = static_cast<uInt>(plain.size() - stream.total_out);
    status = inflate(&stream, Z_NO_FLUSH);
  }
  plain.resize(stream.total_out);
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  inflateEnd(&stream);
  if (whole) return plain;
  if (status == Z_OK) return Error{ErrorCode::bad_data, "it unpacks to more than a calibration can hold"};
  return Error{ErrorCode::bad_data, "it is not a whole gzip file (damaged or cut off)"};
}

}  // namespace roofcal
