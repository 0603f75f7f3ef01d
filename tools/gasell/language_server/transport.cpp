#include "tools/gasell/language_server/transport.h"

#include <poll.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "tools/gasell/terminal.h"

namespace gasell::cli::lsp {

namespace {

constexpr std::string_view kLength = "Content-Length:";
constexpr size_t kMostHeader = 4096;               // bytes
constexpr size_t kMostMessage = size_t{64} << 20;  // bytes

}  // namespace

/// A whole message at the beginning of what was read; nullopt where bytes are missing.
std::optional<std::string> Transport::take() {
  while (true) {
    const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
    const auto header = std::search(read_.begin(), read_.end(), kLength.begin(), kLength.end(), same);
    if (header == read_.end()) {
      if (read_.size() >= kLength.size()) read_.erase(0, read_.size() - kLength.size() + 1);  // the header may be half here
      return std::nullopt;
    }
    read_.erase(read_.begin(), header);
    const size_t end = read_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (read_.size() < kMostHeader) return std::nullopt;
      read_.erase(0, 1);
      continue;
    }
    const size_t digits = read_.find_first_not_of(" \t", kLength.size());
    size_t length = 0;
    const auto [last, error] = std::from_chars(read_.data() + digits, read_.data() + end, length);
    if (error != std::errc{} || *last != '\r' || length > kMostMessage) {
      read_.erase(0, kLength.size());
      continue;
    }
    const size_t begin = end + 4;
    if (read_.size() < begin + length) return std::nullopt;
    std::string message = read_.substr(begin, length);
    read_.erase(0, begin + length);
    return message;
  }
}

Transport::Received Transport::receive(std::optional<std::chrono::milliseconds> patience) {
  while (true) {
    if (std::optional<std::string> message = take()) return {State::message, std::move(*message)};
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, 1, patience ? static_cast<int>(patience->count()) : -1);
    if (ready == 0) return {State::waiting, {}};
    if (ready < 0) continue;  // a signal
    char part[1 << 16];
    const ssize_t count = ::read(STDIN_FILENO, part, sizeof part);
    if (count > 0)
      read_.append(part, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return {State::closed, {}};
  }
}

void Transport::send(const nlohmann::json& message) {
  const std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  write_stdout("Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  flush_stdout();
}

}  // namespace gasell::cli::lsp
