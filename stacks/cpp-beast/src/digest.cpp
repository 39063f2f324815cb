#include "digest.hpp"

#include <array>
#include <boost/beast/core/file.hpp>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace {

/// Fetched once: OpenSSL looks an algorithm up by its name, which takes longer than a short hash.
const EVP_MD* algorithm() {
    static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return fetched;
}

void require(int succeeded) {
    if (!succeeded) throw std::runtime_error("OpenSSL cannot compute SHA-256");
}

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

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) { begin(); }

void Sha256::begin() { require(EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr)); }

void Sha256::update(const void* data, std::size_t size) {
    require(EVP_DigestUpdate(context_.get(), data, size));
}

Digest Sha256::finish() {
    Digest digest;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
    begin();
    return digest;
}

std::string base64(const Digest& digest) {
    // Four characters for three bytes, and the zero that EVP_EncodeBlock writes.
    std::array<unsigned char, 4 * ((sizeof(Digest) + 2) / 3) + 1> text;
    const int length = EVP_EncodeBlock(text.data(), digest.data(), digest.size());
    return {text.begin(), text.begin() + length};
}

std::string digest_file(const std::filesystem::path& path, std::uint32_t rounds) {
    const auto content = read_file(path);
    Sha256 sha256;
    sha256.update(content.data(), content.size());
    auto digest = sha256.finish();
    for (std::uint32_t round = 1; round < rounds; ++round) {
        sha256.update(digest.data(), digest.size());
        digest = sha256.finish();
    }
    return base64(digest);
}
