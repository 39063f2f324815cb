#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

/// SHA-256 of the file, then of the digest, `rounds` times in all; in base64.
/// Throws std::system_error if the file cannot be read.
std::string digest_file(const std::filesystem::path& path, std::uint32_t rounds);
