#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

using Digest = std::array<unsigned char, 32>;

/// SHA-256 of what comes in pieces.
class Sha256 {
  public:
    Sha256();

    void update(const void* data, std::size_t size);
    /// Also begins anew.
    Digest finish();

  private:
    void begin();

    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string base64(const Digest& digest);

/// SHA-256 of the file, then of the digest, `rounds` times in all; in base64.
/// Throws std::system_error if the file cannot be read.
std::string digest_file(const std::filesystem::path& path, std::uint32_t rounds);
