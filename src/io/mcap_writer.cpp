// SPDX-License-Identifier: Apache-2.0
#include "io/mcap_writer.hpp"

#include <tangere/error.hpp>

#include "core/assert.hpp"
#include "io/lz4_frame.hpp"
#include "io/partial_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tangere::io {

namespace {

constexpr std::string_view kMagic{"\x89MCAP0\r\n", 8};

enum class Opcode : unsigned char {
  Header = 0x01,
  Footer = 0x02,
  Schema = 0x03,
  Channel = 0x04,
  Message = 0x05,
  Chunk = 0x06,
  MessageIndex = 0x07,
  ChunkIndex = 0x08,
  Statistics = 0x0b,
  Metadata = 0x0c,
  MetadataIndex = 0x0d,
  SummaryOffset = 0x0e,
  DataEnd = 0x0f,
};

/// Little-endian, whatever the machine.
template <class T>
void add(std::string& to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}
void addText(std::string& to, std::string_view text) {
  add(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

void addRecord(std::string& to, Opcode opcode, std::string_view content) {
  to += static_cast<char>(opcode);
  add(to, static_cast<std::uint64_t>(content.size()));
  to += content;
}
std::string recordOf(Opcode opcode, std::string_view content) {
  std::string record;
  addRecord(record, opcode, content);
  return record;
}

std::string_view compressionName(bool isCompressed) { return isCompressed ? "lz4" : ""; }

std::array<std::uint32_t, 256> makeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0);
    table[i] = value;
  }
  return table;
}

}  // namespace

McapWriter::McapWriter(const std::string& path, std::string_view library, bool isCompressed)
    : file_(path), is_compressed_(isCompressed) {
  std::string header;
  addText(header, "");  // no profile: times are those of the simulation, not of a ROS clock
  addText(header, library);
  put(kMagic);
  put(recordOf(Opcode::Header, header));
}

std::uint16_t McapWriter::addChannel(std::string_view topic, std::string_view schemaName,
                                     std::string_view schema) {
  TANGERE_ASSERT(num_messages_ == 0 && channels_.size() < 1000);
  const auto known = std::find_if(schemas_.begin(), schemas_.end(),
                                  [&](const Schema& other) { return other.name == schemaName; });
  const auto at = static_cast<std::size_t>(known - schemas_.begin());
  if (known == schemas_.end())
    schemas_.push_back({.name = std::string(schemaName), .text = std::string(schema)});
  channels_.push_back({.topic = std::string(topic), .schema = static_cast<std::uint16_t>(at + 1)});
  return static_cast<std::uint16_t>(channels_.size() - 1);
}

void McapWriter::addMetadata(std::string_view name,
                             const std::map<std::string, std::string>& values) {
  std::string pairs;
  for (const auto& [key, value] : values) {
    addText(pairs, key);
    addText(pairs, value);
  }
  std::string content;
  addText(content, name);
  addText(content, pairs);
  const std::string record = recordOf(Opcode::Metadata, content);
  metadata_.push_back({.name = std::string(name), .position = position_, .length = record.size()});
  put(record);
}

void McapWriter::write(std::uint16_t channel, std::uint64_t time_ns, std::string_view message) {
  TANGERE_ASSERT(channel < channels_.size() && (num_messages_ == 0 || time_ns >= last_ns_));
  Channel& own = channels_[channel];
  if (num_messages_ == 0) first_ns_ = time_ns;
  if (records_.empty()) {
    chunk_begin_ns_ = time_ns;
    // A chunk can be read alone: what its messages are comes with it.
    for (std::size_t i = 0; i < schemas_.size(); ++i) records_ += schemaRecord(i);
    for (std::size_t i = 0; i < channels_.size(); ++i) records_ += channelRecord(i);
  }
  own.index.push_back({.time_ns = time_ns, .offset = records_.size()});
  records_ += static_cast<char>(Opcode::Message);
  add(records_, static_cast<std::uint64_t>(2 + 4 + 8 + 8 + message.size()));
  add(records_, channel);
  add(records_, static_cast<std::uint32_t>(own.numMessages));
  add(records_, time_ns);
  add(records_, time_ns);
  records_ += message;
  ++own.numMessages;
  ++num_messages_;
  last_ns_ = time_ns;
  if (records_.size() >= kBytesPerChunk) writeChunk();
}

void McapWriter::finish() {
  writeChunk();
  std::string end;
  add(end, crc_);
  put(recordOf(Opcode::DataEnd, end));
  writeSummary();
  put(kMagic);
  file_.commit();
}

void McapWriter::put(std::string_view bytes) {
  crc_ = crc32(bytes, crc_);
  position_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.descriptor(), bytes.data(), bytes.size());
    if (count > 0)
      bytes.remove_prefix(static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      fail();
  }
}

/// The chunk, and behind it where in it the messages of each channel are.
void McapWriter::writeChunk() {
  if (records_.empty()) return;
  Chunk chunk{.begin_ns = chunk_begin_ns_,
              .end_ns = last_ns_,
              .position = position_,
              .size = records_.size(),
              .isCompressed = is_compressed_};
  const std::uint32_t crc = crc32(records_);
  if (is_compressed_) records_ = compressLz4(records_);
  chunk.compressedSize = records_.size();
  std::string head;
  add(head, chunk.begin_ns);
  add(head, chunk.end_ns);
  add(head, chunk.size);
  add(head, crc);
  addText(head, compressionName(chunk.isCompressed));
  add(head, chunk.compressedSize);
  std::string prefix;
  prefix += static_cast<char>(Opcode::Chunk);
  add(prefix, static_cast<std::uint64_t>(head.size() + records_.size()));
  put(prefix + head);
  put(records_);
  records_.clear();
  chunk.length = position_ - chunk.position;
  const std::uint64_t indexBegin = position_;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].index.empty()) continue;
    std::string entries;
    for (const IndexEntry& entry : channels_[i].index) {
      add(entries, entry.time_ns);
      add(entries, entry.offset);
    }
    channels_[i].index.clear();
    std::string content;
    add(content, static_cast<std::uint16_t>(i));
    addText(content, entries);
    chunk.indexPositions.emplace_back(static_cast<std::uint16_t>(i), position_);
    put(recordOf(Opcode::MessageIndex, content));
  }
  chunk.indexLength = position_ - indexBegin;
  chunks_.push_back(std::move(chunk));
}

std::string McapWriter::schemaRecord(std::size_t index) const {
  std::string content;
  add(content, static_cast<std::uint16_t>(index + 1));  // 0 means none
  addText(content, schemas_[index].name);
  addText(content, "jsonschema");
  addText(content, schemas_[index].text);
  return recordOf(Opcode::Schema, content);
}

std::string McapWriter::channelRecord(std::size_t index) const {
  std::string content;
  add(content, static_cast<std::uint16_t>(index));
  add(content, channels_[index].schema);
  addText(content, channels_[index].topic);
  addText(content, "json");
  addText(content, "");
  return recordOf(Opcode::Channel, content);
}

std::string McapWriter::statisticsRecord() const {
  std::string content;
  add(content, num_messages_);
  add(content, static_cast<std::uint16_t>(schemas_.size()));
  add(content, static_cast<std::uint32_t>(channels_.size()));
  add(content, std::uint32_t{0});  // attachments
  add(content, static_cast<std::uint32_t>(metadata_.size()));
  add(content, static_cast<std::uint32_t>(chunks_.size()));
  add(content, first_ns_);
  add(content, last_ns_);
  std::string counts;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].numMessages == 0) continue;
    add(counts, static_cast<std::uint16_t>(i));
    add(counts, channels_[i].numMessages);
  }
  addText(content, counts);
  return recordOf(Opcode::Statistics, content);
}

/// Groups of records of one kind, where each group is, and the footer that tells where they begin.
void McapWriter::writeSummary() {
  const std::uint64_t begin = position_;
  std::string summary, offsets;
  const auto addGroup = [&](Opcode opcode, std::size_t count, auto&& recordAt) {
    if (count == 0) return;
    const std::size_t from = summary.size();
    for (std::size_t i = 0; i < count; ++i) summary += recordAt(i);
    std::string content;
    content += static_cast<char>(opcode);
    add(content, begin + from);
    add(content, static_cast<std::uint64_t>(summary.size() - from));
    addRecord(offsets, Opcode::SummaryOffset, content);
  };
  addGroup(Opcode::Schema, schemas_.size(), [&](std::size_t i) { return schemaRecord(i); });
  addGroup(Opcode::Channel, channels_.size(), [&](std::size_t i) { return channelRecord(i); });
  addGroup(Opcode::Statistics, 1, [&](std::size_t) { return statisticsRecord(); });
  addGroup(Opcode::ChunkIndex, chunks_.size(), [&](std::size_t i) {
    const Chunk& chunk = chunks_[i];
    std::string content, positions;
    for (const auto& [channel, position] : chunk.indexPositions) {
      add(positions, channel);
      add(positions, position);
    }
    add(content, chunk.begin_ns);
    add(content, chunk.end_ns);
    add(content, chunk.position);
    add(content, chunk.length);
    addText(content, positions);
    add(content, chunk.indexLength);
    addText(content, compressionName(chunk.isCompressed));
    add(content, chunk.compressedSize);
    add(content, chunk.size);
    return recordOf(Opcode::ChunkIndex, content);
  });
  addGroup(Opcode::MetadataIndex, metadata_.size(), [&](std::size_t i) {
    std::string content;
    add(content, metadata_[i].position);
    add(content, metadata_[i].length);
    addText(content, metadata_[i].name);
    return recordOf(Opcode::MetadataIndex, content);
  });
  const std::uint64_t offsetsBegin = begin + summary.size();
  summary += offsets;
  // The CRC reaches from the summary to the footer's own fields before it.
  summary += static_cast<char>(Opcode::Footer);
  add(summary, std::uint64_t{8 + 8 + 4});
  add(summary, begin);
  add(summary, offsetsBegin);
  add(summary, crc32(summary));
  put(summary);
}

void McapWriter::fail() const {
  throw FileError(file_.name() + ": cannot be written: " + std::strerror(errno));
}

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  static const std::array<std::uint32_t, 256> table = makeCrcTable();
  crc = ~crc;
  for (const char byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

}  // namespace tangere::io
