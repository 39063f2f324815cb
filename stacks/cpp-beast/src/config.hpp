// The settings, all from the environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

struct Config {
    std::string host;
    std::uint16_t port;
    /// CPUs that the server may use.
    int cpus;
    /// Database connections at most.
    int pool_size;
    std::filesystem::path blob_path;
    std::optional<std::filesystem::path> static_dir;
    std::optional<std::string> database_url;
    std::optional<std::string> upstream_url;

    /// Throws std::invalid_argument if a variable has an impossible value.
    static Config from_env();
};
