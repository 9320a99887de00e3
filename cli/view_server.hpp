// SPDX-License-Identifier: Apache-2.0
//
// Serves the viewer: pages to whoever has the token, frames of a run over a WebSocket. Clients
// never slow the simulation: each has a thread that sends it the newest frame once it took the last
// one.
#pragma once

#include "console.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tangere::cli {

/// The newest frame of a run, and the last words when it has ended.
class FrameChannel {
 public:
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;

  void publish(std::vector<std::byte> frame);
  /// Told to all clients.
  void stop(std::string reason);
  void close();

  struct News {
    std::uint64_t number = 0;
    Bytes frame{};
    std::string stopped{};
    bool isClosed = false;
  };
  /// Waits for something newer than `seen`, or a second.
  [[nodiscard]] News waitFor(std::uint64_t seen);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  News news_;
};

struct ViewServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  ///< 0: any that is free
};

/// What is served besides the page; called by several threads at a time.
struct ViewContent {
  struct Answer {
    std::string type{};  ///< empty: there is no such thing
    std::string bytes{};
  };
  Json pageData{};  ///< what the page is told: how to ask this server
  /// For a path without its slash, and the text after "chunk=", if any.
  std::function<Answer(std::string_view path, std::string_view chunk)> find{};
  FrameChannel* live = nullptr;  ///< null: no WebSocket
  /// False for a word that is no command: who sends one is let go.
  std::function<bool(const Json& command)> command{};
};

class ViewServer {
 public:
  /// Throws CommandError when the address cannot be listened on.
  ViewServer(const ViewServerOptions& options, ViewContent content);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  /// For a browser, token included.
  [[nodiscard]] const std::string& address() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere::cli
