// SPDX-License-Identifier: Apache-2.0
//
// The file, little-endian: header (magic, version, byte order, size of a number, length of the
// file, hash of the model, version of the program), counters, state, CRC-64 of all before it. A
// CRC, not a hash: it is certain, not only likely, to see every wrong bit and every burst of 64.
#include <tangere/checkpoint.hpp>
#include <tangere/error.hpp>
#include <tangere/output_file.hpp>

#include "io/recording_layout.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tangere {

namespace {

constexpr char kMagic[8] = {'T', 'A', 'N', 'G', 'E', 'R', 'E', '\x1a'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;

class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void add(Real value) { add(std::bit_cast<std::uint64_t>(value)); }
  void addBytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void setLength(std::size_t at, std::uint64_t length) {
    for (std::size_t i = 0; i < 8; ++i) bytes_[at + i] = static_cast<std::byte>(length >> (8 * i));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what is known to be there: nothing is read before the length and the CRC were right.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    if (count > bytes_.size()) throw InvalidInput("its parts are longer than the file");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  template <class T>
  [[nodiscard]] T number() {
    std::uint64_t value = 0;
    const auto taken = take(sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<std::uint64_t>(taken[i]) << (8 * i);
    return static_cast<T>(value);
  }
  [[nodiscard]] Real real() { return std::bit_cast<Real>(number<std::uint64_t>()); }

 private:
  std::span<const std::byte> bytes_;
};

/// CRC-64/XZ.
std::uint64_t crc64(std::span<const std::byte> bytes) {
  static const auto table = [] {
    std::array<std::uint64_t, 256> made{};
    for (std::uint64_t i = 0; i < 256; ++i) {
      std::uint64_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ ((value & 1) != 0 ? 0xc96c5795d7870f42u : 0u);
      made[i] = value;
    }
    return made;
  }();
  std::uint64_t crc = ~std::uint64_t{0};
  for (const std::byte byte : bytes)
    crc = table[(crc ^ static_cast<std::uint64_t>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string hexText(std::uint64_t value) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

void addCounters(ByteWriter& out, const RunCounters& counters) {
  for (const std::uint64_t value :
       {counters.steps, counters.contactsSum, counters.contactsMax, counters.polygonsSum,
        counters.polygonsMax, counters.iterationsSum, counters.iterationsMax, counters.stepsOk})
    out.add(value);
  for (const std::uint64_t value : counters.stepsWithStatus) out.add(value);
  out.add(counters.maxDepth);
  for (const auto& field : io::kLedgerReals) out.add(counters.energy.*field.member);
}

RunCounters takeCounters(ByteReader& in) {
  RunCounters counters;
  for (std::uint64_t* value :
       {&counters.steps, &counters.contactsSum, &counters.contactsMax, &counters.polygonsSum,
        &counters.polygonsMax, &counters.iterationsSum, &counters.iterationsMax, &counters.stepsOk})
    *value = in.number<std::uint64_t>();
  for (std::uint64_t& value : counters.stepsWithStatus) value = in.number<std::uint64_t>();
  counters.maxDepth = in.real();
  for (const auto& field : io::kLedgerReals) counters.energy.*field.member = in.real();
  return counters;
}

constexpr std::size_t kLengthAt = 20;
constexpr std::size_t kEngineBytes = 16;
constexpr std::size_t kHeaderBytes = kLengthAt + 8 + 8 + kEngineBytes;

std::vector<std::byte> encode(const Model& model, const State& state, const RunCounters& counters) {
  ByteWriter out;
  out.addBytes(std::as_bytes(std::span(kMagic)));
  out.add(kVersion);
  out.add(kByteOrder);
  out.add(static_cast<std::uint32_t>(8 * sizeof(Real)));
  out.add(std::uint64_t{0});  // the length, when it is known
  out.add(model.hash());
  char engine[kEngineBytes] = {};
  std::strncpy(engine, TANGERE_VERSION_STRING, kEngineBytes - 1);
  out.addBytes(std::as_bytes(std::span(engine)));
  addCounters(out, counters);
  const std::vector<std::byte> stateBytes = state.save(model);
  out.add(static_cast<std::uint64_t>(stateBytes.size()));
  out.addBytes(stateBytes);
  out.setLength(kLengthAt, out.bytes().size() + 8);
  out.add(crc64(out.bytes()));
  return out.bytes();
}

Checkpoint decode(std::span<const std::byte> bytes, const Model& model) {
  const auto reject = [](const std::string& what) { throw InvalidInput(what); };
  const auto magic = std::as_bytes(std::span(kMagic));
  const std::size_t compared = std::min(bytes.size(), magic.size());
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(compared),
                  magic.begin()))
    reject("no checkpoint");
  if (bytes.size() < kHeaderBytes + 8)
    reject("a checkpoint that was cut: " + std::to_string(bytes.size()) + " bytes");
  ByteReader in(bytes);
  (void)in.take(magic.size());
  const auto version = in.number<std::uint32_t>();
  const auto byteOrder = in.number<std::uint32_t>();
  const auto realBits = in.number<std::uint32_t>();
  const auto length = in.number<std::uint64_t>();
  const auto hash = in.number<std::uint64_t>();
  const auto engine = in.take(kEngineBytes);
  if (version != kVersion)
    reject("checkpoint of version " + std::to_string(version) + "; this program reads version " +
           std::to_string(kVersion));
  if (length != bytes.size())
    reject("a checkpoint that was cut or changed: " + std::to_string(bytes.size()) +
           " bytes, expected " + std::to_string(length));
  const auto content = bytes.first(bytes.size() - 8);
  if (ByteReader(bytes.last(8)).number<std::uint64_t>() != crc64(content))
    reject("a damaged checkpoint: its checksum is wrong");
  if (byteOrder != kByteOrder || realBits != 8 * sizeof(Real))
    reject("a checkpoint with numbers of " + std::to_string(realBits) + " bits; expected " +
           std::to_string(8 * sizeof(Real)) + ", little-endian");
  if (hash != model.hash())
    reject("checkpoint of another scene, or of this scene before it was changed: model hash " +
           hexText(hash) + ", expected " + hexText(model.hash()));
  Checkpoint checkpoint{.state = {}, .counters = takeCounters(in)};
  const auto stateBytes = in.number<std::uint64_t>();
  if (stateBytes + 8 != in.left()) reject("its parts do not add up to its length");
  try {
    checkpoint.state = State::load(model, in.take(static_cast<std::size_t>(stateBytes)));
  } catch (const InvalidInput& error) {
    const auto* text = reinterpret_cast<const char*>(engine.data());
    throw InvalidInput(std::string(error.what()) + " (written by tangere " +
                       std::string(text, strnlen(text, kEngineBytes)) + ", read by tangere " +
                       TANGERE_VERSION_STRING + ")");
  }
  return checkpoint;
}

std::vector<std::byte> readAll(const std::string& path) {
  // Not blocking: a pipe that nobody writes to is no checkpoint either.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const auto fail = [&](const std::string& why) {
    if (descriptor >= 0) close(descriptor);
    throw FileError(path + ": cannot be read: " + why);
  };
  if (descriptor < 0) fail(std::strerror(errno));
  struct stat info {};
  if (fstat(descriptor, &info) != 0) fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail("not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) > kMaxBytes) fail("larger than 16 GiB");
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size));
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = read(descriptor, bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(std::strerror(errno));
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  close(descriptor);
  bytes.resize(got);
  return bytes;
}

}  // namespace

void RunCounters::add(const StepReport& report, const EnergyLedger& ledger) {
  ++steps;
  const auto contacts = static_cast<std::uint64_t>(report.numContacts);
  const auto polygons = static_cast<std::uint64_t>(report.numPressurePolygons);
  const auto iterations = static_cast<std::uint64_t>(report.iterations);
  contactsSum += contacts;
  contactsMax = std::max(contactsMax, contacts);
  polygonsSum += polygons;
  polygonsMax = std::max(polygonsMax, polygons);
  iterationsSum += iterations;
  iterationsMax = std::max(iterationsMax, iterations);
  stepsOk += report.status == StepStatus::Ok ? 1 : 0;
  for (std::size_t bit = 0; bit < stepsWithStatus.size(); ++bit)
    stepsWithStatus[bit] += (static_cast<std::uint32_t>(report.status) >> bit) & 1u;
  maxDepth = std::max(maxDepth, report.maxDepth);
  for (const auto& field : io::kLedgerReals) energy.*field.member += ledger.*field.member;
  energy.kinetic = ledger.kinetic;
  energy.potential = ledger.potential;
}

void saveCheckpoint(const std::filesystem::path& path, const Model& model, const State& state,
                    const RunCounters& counters) {
  const std::vector<std::byte> bytes = encode(model, state, counters);
  OutputFile file(path);
  file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file.commit();
}

Checkpoint loadCheckpoint(const std::filesystem::path& path, const Model& model) {
  const std::vector<std::byte> bytes = readAll(path.string());
  try {
    return decode(bytes, model);
  } catch (const InvalidInput& error) {
    throw InvalidInput(path.string() + ": " + error.what());
  }
}

}  // namespace tangere
