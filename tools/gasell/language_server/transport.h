// Messages of JSON-RPC over standard input and output, as language servers frame them.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gasell::cli::lsp {

/// Reads and writes `Content-Length: N`, an empty line and N bytes. What is no such frame is passed over up to the next header.
class Transport {
 public:
  enum class State { message, waiting, closed };
  struct Received {
    State state;
    std::string text;  // of a message, any bytes
  };

  /// The next message; `waiting` where none came within `patience`; without one it waits for ever.
  Received receive(std::optional<std::chrono::milliseconds> patience);
  void send(const nlohmann::json& message);

 private:
  std::optional<std::string> take();

  std::string read_;
};

}  // namespace gasell::cli::lsp
