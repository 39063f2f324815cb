// The files of a folder.

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "routes/routes.hpp"

namespace routes {

namespace {

struct MediaType {
    std::string_view extension;
    std::string_view name;
};

constexpr std::string_view kUnknownType = "application/octet-stream";
constexpr std::array kTypes{
    MediaType{".css", "text/css; charset=utf-8"},
    MediaType{".gif", "image/gif"},
    MediaType{".html", "text/html; charset=utf-8"},
    MediaType{".ico", "image/vnd.microsoft.icon"},
    MediaType{".jpg", "image/jpeg"},
    MediaType{".js", "text/javascript"},
    MediaType{".json", "application/json"},
    MediaType{".png", "image/png"},
    MediaType{".svg", "image/svg+xml"},
    MediaType{".txt", "text/plain; charset=utf-8"},
    MediaType{".webp", "image/webp"},
    MediaType{".woff2", "font/woff2"},
};

std::string_view type_of(const std::filesystem::path& path) {
    const auto extension = path.extension().string();
    for (const auto& type : kTypes) {
        if (beast::iequals(type.extension, extension)) return type.name;
    }
    return kUnknownType;
}

Failure no_file() { return Failure(http::status::not_found, "no such file"); }

/// Whether a segment of a path, with its escapes undone, is the name of something in its folder.
bool is_name(std::string_view segment) {
    return !segment.empty() && segment != "." && segment != ".." &&
           segment.find_first_of(std::string_view("/\0", 2)) == segment.npos;
}

std::filesystem::path path_of(const App& app, const Request& request) {
    if (!app.static_dir) throw no_file();
    auto path = *app.static_dir;
    const auto segments = request.url.segments();
    // The first one is the folder's name in the URL.
    for (auto segment = std::next(segments.begin()); segment != segments.end(); ++segment) {
        const std::string name = *segment;
        if (!is_name(name)) throw no_file();
        path /= name;
    }
    return path;
}

http::file_body::value_type open_file(const std::filesystem::path& path) {
    http::file_body::value_type body;
    beast::error_code error;
    body.open(path.c_str(), beast::file_mode::scan, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
        error == std::errc::filename_too_long) {
        throw no_file();
    }
    if (error) throw std::system_error(error, path);
    return body;
}

/// Of the file's time in nanoseconds and its length.
std::string etag_of(http::file_body::value_type& body) {
    struct stat status;
    if (fstat(body.file().native_handle(), &status) != 0) {
        throw std::system_error(errno, std::generic_category(), "fstat");
    }
    if (!S_ISREG(status.st_mode)) throw no_file();
    return '"' + std::to_string(status.st_mtim.tv_sec) + '.' +
           std::to_string(status.st_mtim.tv_nsec) + '-' + std::to_string(status.st_size) + '"';
}

/// Whether an If-None-Match header has this ETag, alone or in a list: its quotes are in no other.
bool has_tag(std::string_view if_none_match, std::string_view etag) {
    return if_none_match == "*" || if_none_match.find(etag) != if_none_match.npos;
}

}  // namespace

net::awaitable<http::message_generator> files(App& app, const Request& request) {
    const auto path = path_of(app, request);
    auto body = open_file(path);
    const auto etag = etag_of(body);
    if (has_tag(request.message[http::field::if_none_match], etag)) {
        co_return not_modified(request, etag);
    }
    co_return file(request, type_of(path), etag, std::move(body));
}

}  // namespace routes
