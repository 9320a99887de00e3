// SPDX-License-Identifier: Apache-2.0
#include "view_server.hpp"

#include "view_stream.hpp"

#include <civetweb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <thread>

namespace tangere::cli {

void FrameChannel::publish(std::vector<std::byte> frame) {
  {
    const std::lock_guard lock(mutex_);
    ++news_.number;
    news_.frame = std::make_shared<const std::vector<std::byte>>(std::move(frame));
  }
  changed_.notify_all();
}

void FrameChannel::stop(std::string reason) {
  {
    const std::lock_guard lock(mutex_);
    ++news_.number;
    news_.stopped = std::move(reason);
  }
  changed_.notify_all();
}

void FrameChannel::close() {
  {
    const std::lock_guard lock(mutex_);
    news_.isClosed = true;
  }
  changed_.notify_all();
}

FrameChannel::News FrameChannel::waitFor(std::uint64_t seen) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(1),
                    [&] { return news_.number > seen || news_.isClosed; });
  return news_;
}

namespace {

constexpr int kMaxClients = 64;
// A client of the WebSocket keeps one, and so does whoever connects and says nothing, until the
// time-out: 200 of those hold a page up for three seconds.
constexpr const char* kNumThreads = "160";
constexpr const char* kRequestTimeout_ms = "3000";
constexpr std::size_t kMaxCommandBytes = 4096;
constexpr int kMaxCommandsPerSecond = 2000;
constexpr int kMaxDiscarded = 1'000'000;

std::string makeToken() {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device source;
  std::uniform_int_distribution<int> pick(0, 35);
  std::string token;
  for (int i = 0; i < 24; ++i) token += kLetters[pick(source)];
  return token;
}

/// Takes the same time whatever differs.
bool sameText(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string queryValue(const mg_connection* connection, const char* name) {
  const mg_request_info* info = mg_get_request_info(connection);
  if (info->query_string == nullptr) return {};
  char value[256];
  const int length =
      mg_get_var(info->query_string, std::strlen(info->query_string), name, value, sizeof value);
  return length < 0 ? std::string() : std::string(value, static_cast<std::size_t>(length));
}

bool isMethod(const mg_connection* connection, std::string_view method) {
  const char* given = mg_get_request_info(connection)->request_method;
  return given != nullptr && method == given;
}

/// In one piece: what comes after a head of its own may be lost where the connection is closed on a
/// client that has sent more than was read. HEAD gets the head alone. `policy`: what the browser
/// lets the page do.
int answer(mg_connection* connection, int status, std::string_view type, std::string_view bytes,
           std::string_view policy = "default-src 'none'; frame-ancestors 'none'") {
  std::string text = "HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK" : " Refused") +
                     "\r\nContent-Type: " + std::string(type) +
                     "\r\nContent-Length: " + std::to_string(bytes.size()) +
                     "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Referrer-Policy: no-referrer\r\nContent-Security-Policy: " +
                     std::string(policy) + (status == 405 ? "\r\nAllow: GET, HEAD" : "") +
                     "\r\nConnection: close\r\n\r\n";
  if (!isMethod(connection, "HEAD")) text += bytes;
  mg_write(connection, text.data(), text.size());
  return status;
}

/// A client of the WebSocket.
struct Client {
  mg_connection* connection = nullptr;
  std::thread sender;
  std::atomic<bool> isReady{true};  ///< it took the last frame
  std::atomic<bool> isGone{false};
  std::chrono::steady_clock::time_point second{};
  int commandsThisSecond = 0;
  int numDiscarded = 0;  ///< messages since it was refused; 0: it is not
};

void closeWith(mg_connection* connection, std::uint16_t code, std::string_view reason) {
  std::string text{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  text += reason.substr(0, 120);
  mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, text.data(), text.size());
}

}  // namespace

struct ViewServer::Impl {
  ViewContent content;
  std::string token = makeToken();
  std::string nonce = makeToken();  ///< of the scripts of the page: no others run
  std::string policy;
  std::string address;
  std::string page;
  std::vector<std::string> hosts;  ///< names under which we may be called
  mg_context* context = nullptr;
  std::mutex mutex;
  std::map<const mg_connection*, std::shared_ptr<Client>> clients;

  void listen(const ViewServerOptions& options);

  /// Why a request is refused; nothing when it is not. A page of another site may make the browser
  /// call us, by our address or by a name that points to it: it has neither token nor origin.
  [[nodiscard]] std::optional<std::string> refusal(const mg_connection* connection) const {
    const char* host = mg_get_header(connection, "Host");
    if (host == nullptr || std::find(hosts.begin(), hosts.end(), host) == hosts.end())
      return "this server is not called that: use the address that tangere printed";
    const char* origin = mg_get_header(connection, "Origin");
    if (origin != nullptr && std::string("http://") + host != origin)
      return "pages of other sites may not ask this server";
    if (!sameText(queryValue(connection, "token"), token))
      return "wrong or missing token: use the whole address that tangere printed";
    return std::nullopt;
  }

  int onRequest(mg_connection* connection) {
    if (!isMethod(connection, "GET") && !isMethod(connection, "HEAD"))
      return answer(connection, 405, "text/plain; charset=utf-8", "pages can only be read\n");
    if (const auto reason = refusal(connection))
      return answer(connection, 403, "text/plain; charset=utf-8", *reason + "\n");
    const std::string_view path = mg_get_request_info(connection)->local_uri;
    if (path == "/") return answer(connection, 200, "text/html; charset=utf-8", page, policy);
    const ViewContent::Answer found = content.find(
        path.substr(std::min<std::size_t>(1, path.size())), queryValue(connection, "chunk"));
    if (found.type.empty())
      return answer(connection, 404, "text/plain; charset=utf-8", "there is no such page\n");
    return answer(connection, 200, found.type, found.bytes);
  }

  /// Whether the client may come in; it is told why not.
  bool onConnect(mg_connection* connection) {
    std::optional<std::string> reason = refusal(connection);
    if (!reason) {
      const std::lock_guard lock(mutex);
      if (clients.size() < kMaxClients) return true;
      reason = "too many clients look at this run";
    }
    answer(connection, 403, "text/plain; charset=utf-8", *reason + "\n");
    return false;
  }
  void onReady(mg_connection* connection) {
    auto client = std::make_shared<Client>();
    client->connection = connection;
    const std::lock_guard lock(mutex);
    clients.emplace(connection, client);
    client->sender = std::thread([this, client] { sendFrames(*client); });
  }
  /// Keeps the connection open when true.
  bool onMessage(mg_connection* connection, std::string_view text) {
    std::shared_ptr<Client> client;
    {
      const std::lock_guard lock(mutex);
      const auto found = clients.find(connection);
      if (found == clients.end()) return false;
      client = found->second;
    }
    if (client->numDiscarded > 0) return ++client->numDiscarded < kMaxDiscarded;
    if (text.size() > kMaxCommandBytes || isFlood(*client))
      return refuse(*client, 1008, "too many or too long messages");
    const Json command = Json::parse(text, nullptr, false);
    if (!command.is_object()) return refuse(*client, 1003, "a message that is no command");
    if (command.contains("received"))
      client->isReady = true;
    else if (!content.command(command))
      return refuse(*client, 1008, "there is no such command");
    return true;
  }
  void onClose(const mg_connection* connection) {
    std::shared_ptr<Client> client;
    {
      const std::lock_guard lock(mutex);
      const auto found = clients.find(connection);
      if (found == clients.end()) return;
      client = found->second;
      clients.erase(found);
    }
    client->isGone = true;
    client->sender.join();
  }

  /// What is on its way is still read and thrown away: a connection that is cut would not tell the
  /// client why.
  static bool refuse(Client& client, std::uint16_t code, std::string_view reason) {
    client.isGone = true;  // for its sender
    client.numDiscarded = 1;
    closeWith(client.connection, code, reason);
    return true;
  }
  static bool isFlood(Client& client) {
    const auto now = std::chrono::steady_clock::now();
    if (now - client.second > std::chrono::seconds(1)) {
      client.second = now;
      client.commandsThisSecond = 0;
    }
    return ++client.commandsThisSecond > kMaxCommandsPerSecond;
  }

  void sendFrames(Client& client) const {
    std::uint64_t seen = 0;
    bool isTold = false;
    while (!client.isGone) {
      if (!client.isReady) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      const FrameChannel::News news = content.live->waitFor(seen);
      if (news.isClosed) {
        closeWith(client.connection, 1001, "the simulation has ended");
        return;
      }
      if (news.number == seen) continue;
      seen = news.number;
      if (news.frame) {
        client.isReady = false;
        if (mg_websocket_write(client.connection, MG_WEBSOCKET_OPCODE_BINARY,
                               reinterpret_cast<const char*>(news.frame->data()),
                               news.frame->size()) <= 0)
          return;
      }
      if (!news.stopped.empty() && !isTold) {
        isTold = true;
        const std::string text = Json{{"stopped", news.stopped}}.dump();
        mg_websocket_write(client.connection, MG_WEBSOCKET_OPCODE_TEXT, text.data(), text.size());
      }
    }
  }
};

void ViewServer::Impl::listen(const ViewServerOptions& options) {
  const std::string port = options.address + ":" + std::to_string(options.port);
  const char* settings[] = {"listening_ports",
                            port.c_str(),
                            "num_threads",
                            kNumThreads,
                            "request_timeout_ms",
                            kRequestTimeout_ms,
                            "websocket_timeout_ms",
                            "3600000",
                            "enable_directory_listing",
                            "no",
                            nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // errors come back
  context = mg_start(&callbacks, this, settings);
  if (context == nullptr)
    throw CommandError(kInputOutput, {{.file = {},
                                       .message = join("cannot listen on ", options.address,
                                                       " port ", std::to_string(options.port),
                                                       ": is it taken, or not yours?")}});
  mg_server_port ports[4];
  const int count = mg_get_server_ports(context, 4, ports);
  const int used = count > 0 ? ports[0].port : options.port;
  for (const std::string& name :
       {options.address, std::string("127.0.0.1"), std::string("localhost")})
    hosts.push_back(name + ":" + std::to_string(used));
  address = "http://" + hosts.front() + "/?token=" + token;
  policy = "default-src 'none'; script-src 'nonce-" + nonce +
           "'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'";
  for (const std::string& name : hosts) policy += " ws://" + name;
  policy += "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  mg_set_request_handler(
      context, "**",
      [](mg_connection* connection, void* self) {
        return static_cast<Impl*>(self)->onRequest(connection);
      },
      this);
  if (content.live == nullptr) return;
  mg_set_websocket_handler(
      context, "/live",
      [](const mg_connection* connection, void* self) {
        // The library lets callers write, though it hands the connection out as const here.
        auto* writable = const_cast<mg_connection*>(connection);
        return static_cast<Impl*>(self)->onConnect(writable) ? 0 : 1;
      },
      [](mg_connection* connection, void* self) { static_cast<Impl*>(self)->onReady(connection); },
      [](mg_connection* connection, int bits, char* data, std::size_t length, void* self) {
        if ((bits & 0xf) != MG_WEBSOCKET_OPCODE_TEXT) return (bits & 0xf) == 8 ? 0 : 1;
        return static_cast<Impl*>(self)->onMessage(connection, {data, length}) ? 1 : 0;
      },
      [](const mg_connection* connection, void* self) {
        static_cast<Impl*>(self)->onClose(connection);
      },
      this);
}

ViewServer::ViewServer(const ViewServerOptions& options, ViewContent content)
    : impl_(std::make_unique<Impl>()) {
  impl_->content = std::move(content);
  impl_->page = viewerPage(impl_->content.pageData, impl_->nonce);
  impl_->listen(options);
}

ViewServer::~ViewServer() {
  if (impl_->content.live != nullptr) impl_->content.live->close();
  mg_stop(impl_->context);
}

const std::string& ViewServer::address() const { return impl_->address; }

}  // namespace tangere::cli
