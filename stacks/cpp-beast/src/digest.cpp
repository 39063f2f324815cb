#include "digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <boost/beast/core/file.hpp>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Digest = std::array<unsigned char, 32>;

class Sha256 {
  public:
    void hash(const void* data, std::size_t size, Digest& digest) {
        const bool hashed = EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr) &&
                            EVP_DigestUpdate(context_.get(), data, size) &&
                            EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
        if (!hashed) throw std::runtime_error("OpenSSL cannot compute SHA-256");
    }

  private:
    /// Fetched once: OpenSSL looks an algorithm up by its name, which takes longer than a short
    /// hash.
    static const EVP_MD* algorithm() {
        static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        return fetched;
    }

    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(),
                                                                     &EVP_MD_CTX_free};
};

std::vector<unsigned char> read_file(const std::filesystem::path& path) {
    boost::system::error_code error;
    boost::beast::file file;
    file.open(path.c_str(), boost::beast::file_mode::scan, error);
    if (error) throw std::system_error(error, path);
    std::vector<unsigned char> content(file.size(error));
    if (error) throw std::system_error(error, path);
    std::size_t filled = 0;
    while (filled < content.size()) {
        const auto count = file.read(content.data() + filled, content.size() - filled, error);
        if (error) throw std::system_error(error, path);
        if (count == 0) break;
        filled += count;
    }
    content.resize(filled);
    return content;
}

std::string base64(const Digest& digest) {
    // Four characters for three bytes, and the zero that EVP_EncodeBlock writes.
    std::array<unsigned char, 4 * ((sizeof(Digest) + 2) / 3) + 1> text;
    const int length = EVP_EncodeBlock(text.data(), digest.data(), digest.size());
    return {text.begin(), text.begin() + length};
}

}  // namespace

std::string digest_file(const std::filesystem::path& path, std::uint32_t rounds) {
    const auto content = read_file(path);
    Sha256 sha256;
    Digest digest;
    sha256.hash(content.data(), content.size(), digest);
    for (std::uint32_t round = 1; round < rounds; ++round) {
        sha256.hash(digest.data(), digest.size(), digest);
    }
    return base64(digest);
}
