#include "tools/gasell/language_server/server.h"

#include <functional>
#include <map>
#include <memory>

#include "lang/diagnostic.h"
#include "tools/gasell/host.h"
#include "tools/gasell/language_server/features.h"
#include "tools/gasell/language_server/formatting.h"
#include "tools/gasell/language_server/transport.h"
#include "tools/gasell/terminal.h"
#include "tools/version.h"

namespace gasell::cli {

namespace {

using nlohmann::json;
using namespace lsp;

// Errors of JSON-RPC and of the protocol.
enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kNotInitialized = -32002,
  kRequestFailed = -32803
};

constexpr std::chrono::milliseconds kPause{60};  // without a message, before diagnostics are made

struct Failure {
  ErrorCode code;
  std::string message;
};

class Server {
 public:
  explicit Server(const Options& options) : host_(options, true) {}

  int run() {
    while (true) {
      const Transport::Received received = transport_.receive(anything_waits() ? std::optional(kPause) : std::nullopt);
      if (received.state == Transport::State::closed) return 1;
      if (received.state == Transport::State::waiting) {
        publish();
        continue;
      }
      const json message = json::parse(received.text, nullptr, false);
      if (message.is_discarded()) {
        fail(nullptr, {kParseError, "the message is no JSON"});
        continue;
      }
      if (message.is_object() && message.value("method", json()) == "exit") return shut_down_ ? 0 : 1;
      take(message);
    }
  }

 private:
  using Request = json (Server::*)(const json& params);
  using Notification = void (Server::*)(const json& params);

  void fail(const json& id, const Failure& failure) {
    transport_.send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", failure.code}, {"message", failure.message}}}});
  }

  void take(const json& message) {
    if (!message.is_object()) return fail(nullptr, {kInvalidRequest, "a message is an object"});
    const json id = message.value("id", json());
    const bool is_request = message.contains("id");
    if (!message.contains("method")) {
      if (!is_request) fail(nullptr, {kInvalidRequest, "a message has a method"});
      return;  // an answer to nothing that was asked
    }
    if (is_request && !id.is_string() && !id.is_number_integer())
      return fail(nullptr, {kInvalidRequest, "an id is a text or a whole number"});
    if (!message["method"].is_string()) return fail(id, {kInvalidRequest, "the method is a text"});
    const std::string method = message["method"];
    const json params = message.value("params", json::object());
    try {
      if (is_request) {
        transport_.send({{"jsonrpc", "2.0"}, {"id", id}, {"result", answer(method, params)}});
      } else if (const auto found = notifications().find(method); found != notifications().end() && initialized_) {
        (this->*found->second)(params);
      }
    } catch (const Failure& failure) {
      if (is_request) fail(id, failure);
    } catch (const json::exception&) {
      if (is_request) fail(id, {kInvalidParams, "the parameters of " + method + " are wrong"});
    } catch (const Error& error) {
      if (is_request) fail(id, {kRequestFailed, error.diagnostic().message});
    } catch (const std::exception& error) {
      if (is_request) fail(id, {kInternalError, error.what()});
    }
  }

  json answer(const std::string& method, const json& params) {
    if (shut_down_) throw Failure{kInvalidRequest, "the server was shut down"};
    if (!initialized_ && method != "initialize") throw Failure{kNotInitialized, "initialize comes first"};
    const auto found = requests().find(method);
    if (found == requests().end()) throw Failure{kMethodNotFound, "there is no method " + method};
    return (this->*found->second)(params);
  }

  static const std::map<std::string, Request>& requests() {
    static const std::map<std::string, Request> kRequests = {
        {"initialize", &Server::initialize},
        {"shutdown", &Server::shut_down},
        {"textDocument/hover", &Server::at_place<hover>},
        {"textDocument/completion", &Server::at_place<completion>},
        {"completionItem/resolve", &Server::resolve_item},
        {"textDocument/signatureHelp", &Server::at_place<signature_help>},
        {"textDocument/definition", &Server::at_place<definition>},
        {"textDocument/documentHighlight", &Server::at_place<highlights>},
        {"textDocument/prepareRename", &Server::at_place<prepare_rename>},
        {"textDocument/references", &Server::find_references},
        {"textDocument/rename", &Server::rename_name},
        {"textDocument/formatting", &Server::format_document},
        {"textDocument/documentSymbol", &Server::symbols_of_document},
    };
    return kRequests;
  }

  static const std::map<std::string, Notification>& notifications() {
    static const std::map<std::string, Notification> kNotifications = {
        {"textDocument/didOpen", &Server::open},
        {"textDocument/didChange", &Server::change},
        {"textDocument/didSave", &Server::save},
        {"textDocument/didClose", &Server::close},
    };
    return kNotifications;
  }

  json initialize(const json&) {
    if (initialized_) throw Failure{kInvalidRequest, "the server is initialized"};
    initialized_ = true;
    constexpr int kIncremental = 2;
    return {{"serverInfo", {{"name", "gasell"}, {"version", kVersion}}},
            {"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", kIncremental}, {"save", true}}},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {".", "[", "'", "\"", "/"}}, {"resolveProvider", true}}},
              {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
              {"definitionProvider", true},
              {"referencesProvider", true},
              {"documentHighlightProvider", true},
              {"renameProvider", {{"prepareProvider", true}}},
              {"documentFormattingProvider", true},
              {"documentSymbolProvider", true}}}};
  }

  json shut_down(const json&) {
    shut_down_ = true;
    return nullptr;
  }

  Analysis& document(const json& params) {
    const auto found = documents_.find(params.at("textDocument").at("uri").get<std::string>());
    if (found == documents_.end()) throw Failure{kInvalidParams, "the document is not open"};
    return found->second;
  }

  template <json (*feature)(Analysis&, size_t)>
  json at_place(const json& params) {
    Analysis& analysis = document(params);
    analysis.update();
    return feature(analysis, analysis.document.lines().offset(params.at("position")));
  }

  json find_references(const json& params) {
    Analysis& analysis = document(params);
    analysis.update();
    const json context = params.value("context", json::object());
    return references(analysis, analysis.document.lines().offset(params.at("position")), context.value("includeDeclaration", true));
  }

  json rename_name(const json& params) {
    Analysis& analysis = document(params);
    analysis.update();
    return rename(analysis, analysis.document.lines().offset(params.at("position")), params.at("newName").get<std::string>());
  }

  json resolve_item(const json& params) {
    const auto found = documents_.find(params.at("data").at("uri").get<std::string>());
    return found == documents_.end() ? params : resolve(found->second, params);
  }

  json symbols_of_document(const json& params) {
    Analysis& analysis = document(params);
    analysis.update();
    return document_symbols(analysis);
  }

  json format_document(const json& params) { return formatting(document(params).document); }

  void open(const json& params) {
    const json& item = params.at("textDocument");
    Document text{item.at("uri").get<std::string>(), item.value("version", int64_t{0}), item.at("text").get<std::string>()};
    Analysis analysis;
    analysis.knowledge = std::make_unique<Knowledge>(host_.engine);
    analysis.document = std::move(text);
    documents_[analysis.document.uri] = std::move(analysis);
  }

  void change(const json& params) {
    Analysis& analysis = document(params);
    Document changed = analysis.document;
    for (const json& entry : params.at("contentChanges")) changed.change(entry);
    changed.version = params.at("textDocument").value("version", changed.version + 1);
    analysis.document = std::move(changed);
    analysis.waits = true;
  }

  void save(const json& params) { document(params).waits = true; }

  void close(const json& params) {
    const std::string uri = document(params).document.uri;
    documents_.erase(uri);
    notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", json::array()}});
  }

  void notify(const std::string& method, json params) {
    transport_.send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }

  bool anything_waits() const {
    for (const auto& [uri, analysis] : documents_)
      if (analysis.waits) return true;
    return false;
  }

  void publish() {
    for (auto& [uri, analysis] : documents_) {
      if (!analysis.waits) continue;
      analysis.waits = false;
      notify("textDocument/publishDiagnostics", diagnostics(analysis));
    }
  }

  Transport transport_;
  Host host_;
  std::map<std::string, Analysis> documents_;
  bool initialized_ = false, shut_down_ = false;
};

}  // namespace

int run_language_server(const Options& options) {
  int code = 1;
  const int failed = guarded(options, [&] { code = Server(options).run(); });
  return failed != 0 ? failed : code;
}

}  // namespace gasell::cli
