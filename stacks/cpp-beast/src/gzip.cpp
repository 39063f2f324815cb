#include "gzip.hpp"

#include <zlib.h>

#include <cstdlib>
#include <stdexcept>

#include "net.hpp"

namespace {

/// The largest window, and 16 for gzip's format instead of zlib's own.
constexpr int kWindowBits = 15 + 16;
/// zlib's default.
constexpr int kMemoryLevel = 8;

class Deflater {
  public:
    Deflater() {
        if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel,
                         Z_DEFAULT_STRATEGY) != Z_OK) {
            throw std::runtime_error("zlib cannot start");
        }
    }
    ~Deflater() { deflateEnd(&stream_); }
    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;

    std::string compress(std::string_view text) {
        std::string compressed(deflateBound(&stream_, text.size()), '\0');
        // zlib only reads it.
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream_.avail_in = static_cast<uInt>(text.size());
        stream_.next_out = reinterpret_cast<Bytef*>(compressed.data());
        stream_.avail_out = static_cast<uInt>(compressed.size());
        if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) {
            throw std::runtime_error("zlib cannot compress");
        }
        compressed.resize(stream_.total_out);
        return compressed;
    }

  private:
    z_stream stream_{};
};

bool is_refused(const http::param_list& parameters) {
    for (const auto& [name, value] : parameters) {
        if (beast::iequals(name, "q")) return std::strtod(std::string(value).c_str(), nullptr) == 0;
    }
    return false;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
    for (const auto& [coding, parameters] : http::ext_list(accept_encoding)) {
        if (beast::iequals(coding, "gzip")) return !is_refused(parameters);
    }
    return false;
}

std::string gzip(std::string_view text) { return Deflater().compress(text); }
