// A connection to PostgreSQL: libpq's asynchronous functions, driven by Asio.
#pragma once

#include <libpq-fe.h>

#include <charconv>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "net.hpp"

namespace database {

class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Prepared by each connection when it first executes it.
struct Statement {
    const char* name;
    const char* sql;
};

/// In PostgreSQL's text format; a text ends at its first NUL.
using Parameters = std::vector<std::string>;

/// What a statement brought, in PostgreSQL's text format.
class Rows {
  public:
    explicit Rows(PGresult* result) : result_(result, &PQclear) {}

    /// Whether the statement succeeded.
    bool is_ok() const {
        const auto status = PQresultStatus(result_.get());
        return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
    }

    int size() const { return PQntuples(result_.get()); }

    std::string_view at(int row, int column) const {
        const auto length = static_cast<std::size_t>(PQgetlength(result_.get(), row, column));
        return {PQgetvalue(result_.get(), row, column), length};
    }

    std::int32_t number_at(int row, int column) const {
        const auto text = at(row, column);
        std::int32_t number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

    /// How many rows the statement read or wrote.
    int affected() const {
        const std::string_view text = PQcmdTuples(result_.get());
        int number = 0;
        std::from_chars(text.data(), text.data() + text.size(), number);
        return number;
    }

  private:
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

/// Used by one coroutine at a time. Its functions throw `Error`.
class Connection {
  public:
    static net::awaitable<std::unique_ptr<Connection>> open(net::any_io_executor executor,
                                                            const std::string& url);

    net::awaitable<Rows> execute(const Statement& statement, const Parameters& parameters);

    /// Whether it waits for a statement: connected, and no answer is outstanding.
    bool is_idle() const;

  private:
    Connection(net::any_io_executor executor, const std::string& url);

    net::awaitable<PostgresPollingStatusType> connect();
    /// Waits for the answer to what libpq has queued for sending; `queued` is 0 if it could not.
    net::awaitable<Rows> answer(int queued);
    Error error() const;

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
    /// A duplicate of libpq's descriptor, as libpq closes its own when it likes.
    net::posix::stream_descriptor socket_;
    std::set<std::string_view> prepared_;
};

}  // namespace database
