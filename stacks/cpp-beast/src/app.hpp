// What the connections share.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>

#include "database/pool.hpp"
#include "net.hpp"
#include "payload_worker.hpp"
#include "upstream.hpp"

struct App {
    /// Threads for work that would hold up the connections.
    net::thread_pool& workers;
    std::filesystem::path blob_path;
    /// None without a STATIC_DIR.
    std::optional<std::filesystem::path> static_dir;
    PayloadWorker payload_worker;
    /// None without a DATABASE_URL: the other routes answer nevertheless.
    std::optional<database::Pool> database;
    /// None without an UPSTREAM_URL.
    std::optional<Upstream> upstream;

    /// Requests that are read and not yet answered.
    std::atomic<int> open_requests = 0;
    /// Whether the server was asked to stop: answers then close their connections.
    std::atomic<bool> stopping = false;
};
