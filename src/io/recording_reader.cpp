// SPDX-License-Identifier: Apache-2.0
//
// The reader. Frames are read in blocks of rows, as they were written. Nothing that the file says
// about its own sizes is believed before it was compared with the rest.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>

#include "core/assert.hpp"
#include "io/hdf5_handle.hpp"
#include "io/recording_layout.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tangere {

namespace {

constexpr std::int64_t kFramesPerBlock = 128;
constexpr hsize_t kMaxBodies = 1'000'000;
constexpr std::size_t kMaxBlockNumbers = std::size_t{1} << 28;  // 2 GB of doubles

/// A file that is open, with messages that name it.
class OpenRecording {
 public:
  explicit OpenRecording(const std::filesystem::path& path) : name_(path.string()) {
    std::FILE* stream = std::fopen(name_.c_str(), "rb");
    if (stream == nullptr) throw FileError(name_ + ": cannot be read: " + std::strerror(errno));
    std::fclose(stream);
    // A reader beside a writer: it also opens what a killed writer left.
    file_ = io::Hdf5Handle(H5Fopen(name_.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT),
                           H5Fclose);
    if (!file_.isValid()) reject("no recording, or one that was cut before its first frame");
    if (readText("format") != io::kRecordingFormat) reject("an HDF5 file, but no recording");
    const int version = readVersion();
    if (version != io::kRecordingVersion)
      reject("recording of version " + std::to_string(version) + "; this program reads version " +
             std::to_string(io::kRecordingVersion));
  }

  [[noreturn]] void reject(const std::string& what) const {
    throw InvalidInput(name_ + ": " + what);
  }
  [[nodiscard]] hid_t id() const { return file_.id(); }

  [[nodiscard]] io::Hdf5Handle openDataset(const std::string& path) const {
    io::Hdf5Handle dataset(H5Dopen2(file_.id(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.isValid()) reject("the column " + path + " is missing");
    return dataset;
  }
  /// Rows, then the shape of a row.
  [[nodiscard]] std::vector<hsize_t> shapeOf(const io::Hdf5Handle& dataset) const {
    const io::Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    std::array<hsize_t, H5S_MAX_RANK> shape{};
    const int rank = H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
    if (rank < 1) reject("a column without rows");
    return {shape.begin(), shape.begin() + rank};
  }
  [[nodiscard]] std::uint64_t readModelHash() const {
    std::uint64_t hash = 0;
    const io::Hdf5Handle attribute(
        H5Aopen_by_name(file_.id(), "/model", "hash", H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid() || H5Aread(attribute.id(), H5T_NATIVE_UINT64, &hash) < 0)
      reject("the hash of the model is missing");
    return hash;
  }
  [[nodiscard]] std::vector<std::string> readTexts(const std::string& path) const {
    const io::Hdf5Handle dataset = openDataset(path);
    const std::vector<hsize_t> shape = shapeOf(dataset);
    const io::Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose);
    if (shape.size() != 1 || shape[0] < 1 || shape[0] > kMaxBodies ||
        H5Tis_variable_str(stored.id()) <= 0)
      reject("the column " + path + " is not a list of names");
    const io::Hdf5Handle type = io::textType();
    const io::Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    std::vector<char*> pointers(shape[0], nullptr);
    if (H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0)
      reject("the column " + path + " is damaged");
    std::vector<std::string> texts;
    texts.reserve(pointers.size());
    for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
    return texts;
  }

 private:
  [[nodiscard]] std::string readText(const char* name) const {
    const io::Hdf5Handle attribute(H5Aopen(file_.id(), name, H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid()) return "";
    const io::Hdf5Handle stored(H5Aget_type(attribute.id()), H5Tclose);
    const io::Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
    if (H5Tis_variable_str(stored.id()) <= 0 || H5Sget_simple_extent_npoints(space.id()) != 1)
      return "";
    const io::Hdf5Handle type = io::textType();
    char* pointer = nullptr;
    if (H5Aread(attribute.id(), type.id(), static_cast<void*>(&pointer)) < 0 || pointer == nullptr)
      return "";
    std::string text = pointer;
    H5free_memory(pointer);
    return text;
  }
  [[nodiscard]] int readVersion() const {
    std::int32_t version = 0;
    const io::Hdf5Handle attribute(H5Aopen(file_.id(), "format_version", H5P_DEFAULT), H5Aclose);
    if (!attribute.isValid() || H5Aread(attribute.id(), H5T_NATIVE_INT32, &version) < 0)
      reject("no version");
    return version;
  }

  std::string name_;
  io::Hdf5Handle file_;
};

/// One column and the block of it that was read last.
template <class T>
class Column {
 public:
  void open(const OpenRecording& file, const std::string& path,
            const std::vector<hsize_t>& rowShape) {
    path_ = path;
    dataset_ = file.openDataset(path);
    shape_ = file.shapeOf(dataset_);
    if (!std::equal(shape_.begin() + 1, shape_.end(), rowShape.begin(), rowShape.end()))
      file.reject("the column " + path + " has the wrong shape");
    const io::Hdf5Handle type(H5Dget_type(dataset_.id()), H5Tclose);
    if (H5Tget_class(type.id()) != H5Tget_class(io::nativeType<T>()))
      file.reject("the column " + path + " has the wrong type");
    for (const hsize_t extent : rowShape) row_size_ *= static_cast<std::size_t>(extent);
  }
  [[nodiscard]] std::uint64_t rows() const { return shape_[0]; }
  void read(const OpenRecording& file, std::uint64_t first, std::uint64_t count) {
    if (first + count > rows()) file.reject("the column " + path_ + " is cut");
    if (count > kMaxBlockNumbers / row_size_) file.reject("the column " + path_ + " is too large");
    values_.resize(static_cast<std::size_t>(count) * row_size_);
    if (count == 0) return;
    std::vector<hsize_t> begin(shape_.size(), 0), extent = shape_;
    begin[0] = first;
    extent[0] = count;
    const io::Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    const io::Hdf5Handle memory(
        H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, extent.data(), nullptr);
    if (H5Dread(dataset_.id(), io::nativeType<T>(), memory.id(), space.id(), H5P_DEFAULT,
                values_.data()) < 0)
      file.reject("the column " + path_ + " is damaged");
  }
  [[nodiscard]] T at(std::size_t index) const { return values_[index]; }
  [[nodiscard]] const T* row(std::size_t index) const { return &values_[index * row_size_]; }

 private:
  std::string path_;
  io::Hdf5Handle dataset_;
  std::vector<hsize_t> shape_;
  std::size_t row_size_ = 1;
  std::vector<T> values_;
};

void assign(int& to, const Column<std::int32_t>& column, std::size_t row) { to = column.at(row); }
void assign(std::uint64_t& to, const Column<std::uint64_t>& column, std::size_t row) {
  to = column.at(row);
}
void assign(Real& to, const Column<Real>& column, std::size_t row) { to = column.at(row); }
void assign(Vec3& to, const Column<Real>& column, std::size_t row) {
  const Real* v = column.row(row);
  to = {v[0], v[1], v[2]};
}

}  // namespace

struct RecordingReader::Impl {
  OpenRecording file;
  std::vector<std::string> names;
  std::uint64_t modelHash = 0;
  std::int64_t numFrames = 0;
  std::int64_t blockBegin = 0, blockEnd = 0;
  std::uint64_t contactsBegin = 0;
  RecordedFrame current;

  Column<Real> time;
  Column<std::uint64_t> stateHash, step;
  Column<Real> position, quaternion, linearVelocity, angularVelocity;
  Column<std::uint64_t> contactOffset;
  std::array<Column<std::int32_t>, std::size(io::kContactInts)> contactInts;
  std::array<Column<std::uint64_t>, std::size(io::kContactIds)> contactIds;
  std::array<Column<Real>, std::size(io::kContactVectors)> contactVectors;
  std::array<Column<Real>, std::size(io::kContactReals)> contactReals;
  Column<std::uint32_t> status;
  std::array<Column<std::int32_t>, std::size(io::kReportInts)> reportInts;
  std::array<Column<Real>, std::size(io::kReportReals)> reportReals;
  std::array<Column<Real>, std::size(io::kLedgerReals)> ledgerReals;

  explicit Impl(const std::filesystem::path& path);
  template <class Visit>
  void forEachFrameColumn(Visit visit);
  template <class Visit>
  void forEachContactColumn(Visit visit);
  void readBlock(std::int64_t first);
  void fillCurrent(std::size_t row);
};

RecordingReader::Impl::Impl(const std::filesystem::path& path)
    : file(path), names(file.readTexts("/model/body_name")), modelHash(file.readModelHash()) {
  const hsize_t bodies = names.size();
  const auto openAll = [&](const std::string& group, auto& list, const auto& fields,
                           const std::vector<hsize_t>& shape) {
    for (std::size_t i = 0; i < list.size(); ++i) list[i].open(file, group + fields[i].name, shape);
  };
  time.open(file, "/frames/time", {});
  step.open(file, "/frames/step", {});
  stateHash.open(file, "/frames/state_hash", {});
  position.open(file, "/bodies/position", {bodies, 3});
  quaternion.open(file, "/bodies/quaternion", {bodies, 4});
  linearVelocity.open(file, "/bodies/linear_velocity", {bodies, 3});
  angularVelocity.open(file, "/bodies/angular_velocity", {bodies, 3});
  contactOffset.open(file, "/contacts/offset", {});
  openAll("/contacts/", contactInts, io::kContactInts, {});
  openAll("/contacts/", contactIds, io::kContactIds, {});
  openAll("/contacts/", contactVectors, io::kContactVectors, {3});
  openAll("/contacts/", contactReals, io::kContactReals, {});
  status.open(file, "/solver/status", {});
  openAll("/solver/", reportInts, io::kReportInts, {});
  openAll("/solver/", reportReals, io::kReportReals, {});
  openAll("/energy/", ledgerReals, io::kLedgerReals, {});
  numFrames = static_cast<std::int64_t>(step.rows());
  // The writer gives step numbers last: every other column is as long, or the file is damaged.
  forEachFrameColumn([&](const auto& column) {
    if (column.rows() < step.rows()) file.reject("its columns have different lengths");
  });
  if (numFrames > 0 && contactOffset.rows() < step.rows() + 1)
    file.reject("the column /contacts/offset is cut");
}

template <class Visit>
void RecordingReader::Impl::forEachFrameColumn(Visit visit) {
  const auto all = [&](auto& list) { std::for_each(list.begin(), list.end(), visit); };
  visit(time);
  visit(step);
  visit(stateHash);
  visit(position);
  visit(quaternion);
  visit(linearVelocity);
  visit(angularVelocity);
  visit(status);
  all(reportInts);
  all(reportReals);
  all(ledgerReals);
}

template <class Visit>
void RecordingReader::Impl::forEachContactColumn(Visit visit) {
  const auto all = [&](auto& list) { std::for_each(list.begin(), list.end(), visit); };
  all(contactInts);
  all(contactIds);
  all(contactVectors);
  all(contactReals);
}

void RecordingReader::Impl::readBlock(std::int64_t first) {
  blockBegin = blockEnd = 0;
  const auto begin = static_cast<std::uint64_t>(first);
  const auto count = static_cast<std::uint64_t>(std::min(kFramesPerBlock, numFrames - first));
  forEachFrameColumn([&](auto& column) { column.read(file, begin, count); });
  contactOffset.read(file, begin, count + 1);
  for (std::size_t i = 0; i < count; ++i)
    if (contactOffset.at(i) > contactOffset.at(i + 1))
      file.reject("the column /contacts/offset is damaged");
  contactsBegin = contactOffset.at(0);
  const std::uint64_t contacts = contactOffset.at(count) - contactsBegin;
  forEachContactColumn([&](auto& column) { column.read(file, contactsBegin, contacts); });
  blockBegin = first;
  blockEnd = first + static_cast<std::int64_t>(count);
}

void RecordingReader::Impl::fillCurrent(std::size_t row) {
  current.time = time.at(row);
  current.step = step.at(row);
  current.stateHash = stateHash.at(row);
  current.bodies.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t at = row * names.size() + i;  // rows of the file are whole frames
    BodyState& body = current.bodies[i];
    const auto vec = [&](const Column<Real>& column) {
      return Vec3{column.at(3 * at), column.at(3 * at + 1), column.at(3 * at + 2)};
    };
    body.orientation = {quaternion.at(4 * at), quaternion.at(4 * at + 1), quaternion.at(4 * at + 2),
                        quaternion.at(4 * at + 3)};
    body.pose = {rotationMatrix(body.orientation), vec(position)};
    body.linearVelocity = vec(linearVelocity);
    body.angularVelocity = vec(angularVelocity);
  }
  const auto assignAll = [](auto& target, const auto& list, const auto& fields, std::size_t at) {
    for (std::size_t i = 0; i < list.size(); ++i) assign(target.*fields[i].member, list[i], at);
  };
  const auto isBody = [&](int index) {
    return index >= -1 && index < static_cast<int>(names.size());
  };
  current.contacts.resize(contactOffset.at(row + 1) - contactOffset.at(row));
  for (std::size_t i = 0; i < current.contacts.size(); ++i) {
    const std::size_t at = contactOffset.at(row) - contactsBegin + i;
    ContactForce& contact = current.contacts[i];
    assignAll(contact, contactInts, io::kContactInts, at);
    assignAll(contact, contactIds, io::kContactIds, at);
    assignAll(contact, contactVectors, io::kContactVectors, at);
    assignAll(contact, contactReals, io::kContactReals, at);
    if (!isBody(contact.body1) || !isBody(contact.body2))
      file.reject("a contact of a body that does not exist");
  }
  current.report.status = static_cast<StepStatus>(status.at(row));
  assignAll(current.report, reportInts, io::kReportInts, row);
  assignAll(current.report, reportReals, io::kReportReals, row);
  assignAll(current.energy, ledgerReals, io::kLedgerReals, row);
}

RecordingReader::RecordingReader(const std::filesystem::path& path) {
  const io::QuietHdf5 quiet;
  impl_ = std::make_unique<Impl>(path);
}

RecordingReader::~RecordingReader() = default;
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader& RecordingReader::operator=(RecordingReader&&) noexcept = default;

std::int64_t RecordingReader::numFrames() const { return impl_->numFrames; }

int RecordingReader::numBodies() const { return static_cast<int>(impl_->names.size()); }

const std::string& RecordingReader::bodyName(int body) const { return impl_->names.at(body); }

std::uint64_t RecordingReader::modelHash() const { return impl_->modelHash; }

const RecordedFrame& RecordingReader::frame(std::int64_t index) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->numFrames, "no such frame", index, impl_->numFrames);
  if (index < impl_->blockBegin || index >= impl_->blockEnd) {
    const io::QuietHdf5 quiet;
    impl_->readBlock(index / kFramesPerBlock * kFramesPerBlock);
  }
  impl_->fillCurrent(static_cast<std::size_t>(index - impl_->blockBegin));
  return impl_->current;
}

std::span<const LedgerRow> energyLedgerRows() {
  static const auto rows = [] {
    std::array<LedgerRow, std::size(io::kLedgerReals)> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = {io::kLedgerReals[i].name, io::kLedgerReals[i].member, io::kLedgerReals[i].meaning};
    return made;
  }();
  return rows;
}

}  // namespace tangere
