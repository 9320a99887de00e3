// SPDX-License-Identifier: Apache-2.0
//
// All environments as one blob of bytes: their states, and what is told to them from outside and
// stays (controls, driven vertices), so that a simulator that gets it goes on to the same bits.
#include "bindings.hpp"
#include "environments.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

#include <cstring>
#include <string>
#include <type_traits>

namespace tangere::python {

namespace {

constexpr std::uint32_t kFormat = 0x50475401;  // "TGP", version 1

std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  void add(std::span<const std::byte> bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] T next() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  [[nodiscard]] std::span<const std::byte> nextBytes() {
    const auto size = next<std::uint64_t>();
    if (size > bytes_.size()) throw InvalidInput("the state is cut or damaged");
    return take(static_cast<std::size_t>(size));
  }
  [[nodiscard]] bool isAtEnd() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (size > bytes_.size()) throw InvalidInput("the state is cut or damaged");
    const std::span<const std::byte> taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  std::span<const std::byte> bytes_;
};

nb::bytes save(Environments& self, const EnvironmentArgument& environment) {
  const Environments::Use use(self);
  const std::optional<int> only = checkedEnvironment(self, environment);
  self.push();
  const int first = only.value_or(0);
  const int count = only ? 1 : self.size();
  Writer out;
  out.add(kFormat);
  out.add(static_cast<std::uint32_t>(count));
  for (int i = first; i < first + count; ++i) {
    const Simulator& simulator = self.at(i);
    out.add(std::as_bytes(simulator.controls()));
    const std::vector<VertexTarget> targets = simulator.vertexTargets();
    out.add(static_cast<std::uint64_t>(targets.size()));
    for (const VertexTarget& driven : targets) {
      out.add(static_cast<std::int32_t>(driven.soft));
      out.add(static_cast<std::int32_t>(driven.vertex));
      for (int k = 0; k < 3; ++k) out.add(driven.target[k]);
    }
    const std::vector<std::byte> state = simulator.state().save(simulator.model());
    out.add(std::span<const std::byte>(state));
  }
  out.add(checksum(out.bytes()));
  return nb::bytes(reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size());
}

/// One environment of a blob.
struct Saved {
  std::vector<Real> controls;
  std::vector<VertexTarget> targets;
  std::span<const std::byte> state;
};

std::vector<Saved> parse(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) throw InvalidInput("the state is cut or damaged");
  const auto body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  std::uint64_t expected = 0;
  std::memcpy(&expected, bytes.data() + body.size(), sizeof(expected));
  Reader in(body);
  if (in.next<std::uint32_t>() != kFormat)
    throw InvalidInput("not the state of a tangere.Simulator of this version");
  if (checksum(body) != expected) throw InvalidInput("the state is damaged: its sum does not fit");
  std::vector<Saved> out;
  for (auto left = in.next<std::uint32_t>(); left > 0; --left) {
    Saved saved;
    const std::span<const std::byte> controls = in.nextBytes();
    saved.controls.resize(controls.size() / sizeof(Real));
    if (!controls.empty())
      std::memcpy(saved.controls.data(), controls.data(), saved.controls.size() * sizeof(Real));
    for (auto targets = in.next<std::uint64_t>(); targets > 0; --targets) {
      VertexTarget driven;
      driven.soft = in.next<std::int32_t>();
      driven.vertex = in.next<std::int32_t>();
      for (int k = 0; k < 3; ++k) driven.target[k] = in.next<Real>();
      saved.targets.push_back(driven);
    }
    saved.state = in.nextBytes();
    out.push_back(std::move(saved));
  }
  if (!in.isAtEnd()) throw InvalidInput("the state has bytes after its end");
  return out;
}

void restore(Environments& self, int environment, const Saved& saved, const State& state) {
  Simulator& simulator = self.at(environment);
  self.setState(environment, state);
  simulator.setControls(saved.controls);
  for (const VertexTarget& driven : simulator.vertexTargets())
    simulator.releaseVertex(driven.soft, driven.vertex);
  for (const VertexTarget& driven : saved.targets)
    simulator.driveVertex(driven.soft, driven.vertex, driven.target);
}

void load(Environments& self, const nb::bytes& blob, const std::optional<ArrayLike>& mask) {
  const Environments::Use use(self);
  const std::vector<Saved> saved =
      parse({reinterpret_cast<const std::byte*>(blob.c_str()), blob.size()});
  const std::vector<int> chosen = chosenBy(self, mask);
  const bool isForAll = saved.size() == 1;
  if (!isForAll && saved.size() != static_cast<std::size_t>(self.size()))
    throw InvalidInput("the state has " + std::to_string(saved.size()) +
                       " environments, the simulator " + std::to_string(self.size()));
  // All are read before one is set.
  std::vector<State> states;
  for (const int i : chosen) {
    const Saved& from = saved[isForAll ? 0 : static_cast<std::size_t>(i)];
    if (from.controls.size() != self.at(i).controls().size())
      throw InvalidInput("the state belongs to another model: it has " +
                         std::to_string(from.controls.size()) + " controls");
    states.push_back(State::load(self.at(i).model(), from.state));
  }
  self.push();
  for (std::size_t k = 0; k < chosen.size(); ++k)
    restore(self, chosen[k], saved[isForAll ? 0 : static_cast<std::size_t>(chosen[k])], states[k]);
  self.pull();
}

}  // namespace

void bindState(nb::module_&, nb::class_<Environments>& simulator) {
  simulator.def("_state", &save, nb::arg("env") = nb::none(), "See state().")
      .def("_set_state", &load, nb::arg("state"), nb::arg("mask") = nb::none(), "See set_state().")
      .def(
          "state_hash",
          [](Environments& self, const Argument<int>& environment) {
            const Environments::Use use(self);
            self.push();
            return self.at(self.checked(environment.as("env"))).state().hash();
          },
          nb::arg("env") = 0,
          "Hash of the state of an environment: the same on every machine for the same bits, and "
          "what `tangere run --json` prints, as a number.");
}

}  // namespace tangere::python
