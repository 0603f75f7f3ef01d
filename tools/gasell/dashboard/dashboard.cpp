#include "tools/gasell/dashboard/dashboard.h"

#include <pthread.h>
#include <sys/random.h>

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <optional>
#include <string_view>
#include <thread>

#include "lang/diagnostic.h"
#include "runtime/device/trace.h"
#include "runtime/primitives/operator_report.h"
#include "tools/gasell/dashboard/live_state.h"
#include "tools/gasell/dashboard/page.h"

namespace gasell::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr int kUsualPort = 8787;  // Dask's dashboard has it, too
constexpr auto kBetweenStates = std::chrono::milliseconds(250);
constexpr auto kPatience = std::chrono::seconds(10);  // with a browser that asks slowly, or does not take what it asked for
constexpr int kMostConnections = 16;

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error("OSError", "the system gives no random numbers", {}, Blame::environment);
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// Takes as long for a wrong token as for the right one.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

struct Dashboard::State {
  State(Engine& engine, int port) : engine(engine), token(random_token()), acceptor(context) {
    open(port);
    engine.trace().start(false);
    if (!engine.options().trace) operators.emplace(operators_to(engine.trace()));
    asio::co_spawn(context, accept(), asio::detached);
    // Signals are for the threads that know what to do with them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread = std::thread([this] { context.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~State() {
    context.stop();
    thread.join();
  }

  void open(int port) {
    const auto try_port = [&](int number) {
      boost::system::error_code failed;
      const tcp::endpoint place(asio::ip::address_v4::loopback(), static_cast<unsigned short>(number));
      acceptor.open(place.protocol());
      acceptor.set_option(tcp::acceptor::reuse_address(true));
      acceptor.bind(place, failed);
      if (!failed) acceptor.listen(tcp::acceptor::max_listen_connections, failed);
      if (failed) acceptor.close();
      return failed;
    };
    auto failed = try_port(port ? port : kUsualPort);
    if (failed && port == 0) failed = try_port(0);
    if (failed)
      throw Error("OSError", "the dashboard's port " + std::to_string(port) + " cannot be had: " + failed.message(),
                  "--dashboard alone takes one that is free", Blame::environment);
    host = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
    link = "http://" + host + "/?token=" + token;
  }

  awaitable<void> accept() {
    while (true) {
      tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
      if (connections >= kMostConnections) continue;  // it is closed
      asio::co_spawn(context, serve(beast::tcp_stream(std::move(socket))), asio::detached);
    }
  }

  awaitable<void> serve(beast::tcp_stream stream) {
    ++connections;
    try {
      co_await answer(stream);
    } catch (const boost::system::system_error&) {  // the browser went, or was too slow
    }
    --connections;
  }

  awaitable<void> answer(beast::tcp_stream& stream) {
    beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    stream.expires_after(kPatience);
    co_await http::async_read(stream, buffer, request, use_awaitable);

    const std::string target(request.target());
    const size_t query = target.find('?');
    const std::string path = target.substr(0, query);
    // A page of another origin that had a name lead here would ask with that name.
    const std::string_view asked(request[http::field::host].data(), request[http::field::host].size());
    const bool knows = query != target.npos && same(target.substr(query), "?token=" + token) &&
                       (asked == host || asked == "localhost" + host.substr(host.find(':')));
    if (request.method() != http::verb::get || !knows)
      co_return co_await send(stream, http::status::forbidden, "text/plain",
                              "the address of the dashboard has a token, which this one lacks\n");
    if (path == "/") co_return co_await send(stream, http::status::ok, "text/html; charset=utf-8", std::string(dashboard_page()));
    if (path == "/events") co_return co_await send_states(stream);
    co_await send(stream, http::status::not_found, "text/plain", "there is nothing here\n");
  }

  awaitable<void> send(beast::tcp_stream& stream, http::status status, const char* type, std::string body) {
    http::response<http::string_body> response(status, 11);
    response.set(http::field::content_type, type);
    response.set(http::field::cache_control, "no-store");
    response.set("Referrer-Policy", "no-referrer");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Content-Security-Policy",
                 "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'");
    response.keep_alive(false);
    response.body() = std::move(body);
    response.prepare_payload();
    stream.expires_after(kPatience);
    co_await http::async_write(stream, response, use_awaitable);
    beast::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  /// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): a state each, until the browser goes.
  awaitable<void> send_states(beast::tcp_stream& stream) {
    http::response<http::empty_body> head(http::status::ok, 11);
    head.set(http::field::content_type, "text/event-stream");
    head.set(http::field::cache_control, "no-store");
    head.keep_alive(false);
    http::response_serializer<http::empty_body> serializer(head);
    stream.expires_after(kPatience);
    co_await http::async_write_header(stream, serializer, use_awaitable);
    asio::steady_timer timer(context);
    int64_t next = 0;
    while (true) {
      const std::string message = "data: " + live_state(engine, next) + "\n\n";
      stream.expires_after(kPatience);
      co_await asio::async_write(stream, asio::buffer(message), use_awaitable);
      timer.expires_after(kBetweenStates);
      co_await timer.async_wait(use_awaitable);
    }
  }

  Engine& engine;
  const std::string token;
  std::string host, link;
  std::optional<OperatorObserver> operators;  // where nobody else has them traced
  asio::io_context context{1};
  tcp::acceptor acceptor;
  int connections = 0;
  std::thread thread;
};

Dashboard::Dashboard(Engine& engine, int port) : state_(std::make_unique<State>(engine, port)) {}
Dashboard::~Dashboard() = default;
const std::string& Dashboard::link() const { return state_->link; }

std::string page_of_trace(const Trace& trace) {
  std::string page(dashboard_page());
  std::string data = trace.chrome_text();
  // "</script" in a name would end the script that the data stand in.
  for (size_t at = 0; (at = data.find("</", at)) != data.npos; at += 3) data.insert(at + 1, "\\");
  const size_t place = page.find("null /* trace */");
  return page.replace(place, std::string_view("null /* trace */").size(), data);
}

}  // namespace gasell::cli
