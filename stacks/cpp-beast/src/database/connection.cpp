#include "database/connection.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <vector>

namespace database {

namespace {

using net::experimental::awaitable_operators::operator||;

constexpr std::chrono::seconds kConnectTimeout(10);

PGconn* start(const std::string& url) {
    // PostgreSQL itself ends a statement that takes too long, so that nothing here needs a timer
    // for each.
    const std::array keywords = {"dbname", "options", "tcp_user_timeout",
                                 static_cast<const char*>(nullptr)};
    const std::array values = {url.c_str(), "-c statement_timeout=10s", "10000",
                               static_cast<const char*>(nullptr)};
    constexpr int kDbnameIsUrl = 1;
    return PQconnectStartParams(keywords.data(), values.data(), kDbnameIsUrl);
}

int duplicate(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) throw Error("no descriptor: " + std::generic_category().message(errno));
    return copy;
}

}  // namespace

Connection::Connection(net::any_io_executor executor, const std::string& url)
    : connection_(start(url), &PQfinish), socket_(executor) {}

net::awaitable<std::unique_ptr<Connection>> Connection::open(net::any_io_executor executor,
                                                             const std::string& url) {
    std::unique_ptr<Connection> connection(new Connection(executor, url));
    net::steady_timer timer(executor, kConnectTimeout);
    const auto first = co_await (connection->connect() || timer.async_wait(net::use_awaitable));
    if (first.index() == 1) throw Error("no connection in time");
    if (std::get<0>(first) != PGRES_POLLING_OK) throw connection->error();
    PQsetnonblocking(connection->connection_.get(), 1);
    co_return connection;
}

bool Connection::is_idle() const { return PQtransactionStatus(connection_.get()) == PQTRANS_IDLE; }

net::awaitable<Rows> Connection::execute(const Statement& statement, const Parameters& parameters) {
    if (!prepared_.contains(statement.name)) {
        co_await answer(
            PQsendPrepare(connection_.get(), statement.name, statement.sql, 0, nullptr));
        prepared_.insert(statement.name);
    }
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& parameter : parameters) values.push_back(parameter.c_str());
    constexpr int kText = 0;
    co_return co_await answer(PQsendQueryPrepared(connection_.get(), statement.name,
                                                  static_cast<int>(values.size()), values.data(),
                                                  nullptr, nullptr, kText));
}

// As the manual of libpq describes it for PQconnectStart.
net::awaitable<PostgresPollingStatusType> Connection::connect() {
    auto next = PQstatus(connection_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                              : PGRES_POLLING_WRITING;
    while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
        // libpq may have closed its descriptor and opened another one, even under the same number.
        socket_.close();
        socket_.assign(duplicate(PQsocket(connection_.get())));
        const bool writing = next == PGRES_POLLING_WRITING;
        const auto event = writing ? socket_.wait_write : socket_.wait_read;
        co_await socket_.async_wait(event, net::use_awaitable);
        next = PQconnectPoll(connection_.get());
    }
    co_return next;
}

net::awaitable<Rows> Connection::answer(int queued) {
    if (!queued) throw error();
    for (;;) {
        const int unsent = PQflush(connection_.get());
        if (unsent < 0) throw error();
        if (unsent == 0) break;
        co_await socket_.async_wait(socket_.wait_write, net::use_awaitable);
    }
    Rows rows(nullptr);
    for (;;) {
        while (PQisBusy(connection_.get())) {
            co_await socket_.async_wait(socket_.wait_read, net::use_awaitable);
            if (!PQconsumeInput(connection_.get())) throw error();
        }
        // A null pointer ends the answer; until then the connection takes no other statement.
        PGresult* const result = PQgetResult(connection_.get());
        if (!result) break;
        rows = Rows(result);
    }
    if (!rows.is_ok()) throw error();
    co_return rows;
}

Error Connection::error() const { return Error(PQerrorMessage(connection_.get())); }

}  // namespace database
