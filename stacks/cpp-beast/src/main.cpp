#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "app.hpp"
#include "config.hpp"
#include "log.hpp"
#include "net.hpp"
#include "server.hpp"
#include "templates.hpp"

namespace {

std::shared_ptr<App> make_app(net::io_context& io, net::thread_pool& workers,
                              const Config& config) {
    auto app = std::make_shared<App>(workers, config.blob_path, config.static_dir,
                                     PayloadWorker(io.get_executor()));
    if (config.database_url) {
        app->database.emplace(io.get_executor(), *config.database_url, config.pool_size);
    }
    if (config.upstream_url) app->upstream.emplace(io.get_executor(), *config.upstream_url);
    return app;
}

void run(const Config& config) {
    templates::load();
    net::io_context io(config.cpus);
    net::thread_pool workers(config.cpus);
    auto acceptor = listen(io, config.host, config.port);
    std::exception_ptr failure;
    auto stop = [&io, &failure](std::exception_ptr error) {
        failure = error;
        io.stop();
    };
    net::co_spawn(io, serve(std::move(acceptor), make_app(io, workers, config)), stop);

    std::vector<std::jthread> threads;
    for (int other = 1; other < config.cpus; ++other) {
        threads.emplace_back([&io] { io.run(); });
    }
    io.run();
    threads.clear();  // joins them
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main() {
    try {
        run(Config::from_env());
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        log(error.what());
        return EXIT_FAILURE;
    }
}
