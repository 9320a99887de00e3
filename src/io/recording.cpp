// SPDX-License-Identifier: Apache-2.0
//
// The writer. Frames are kept until a chunk is full; then the columns grow by whole chunks, the
// step numbers last. HDF5's single-writer mode writes metadata in an order in which every state of
// the file can be read, so the file is whole after each write, up to the frames whose step number
// has arrived. Compressing costs more than all the rest: a thread of its own does it, one chunk
// behind, where HDF5 was built for threads.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>

#include "core/assert.hpp"
#include "io/hdf5_driver.hpp"
#include "io/model_record.hpp"
#include "io/partial_file.hpp"
#include "io/recording_layout.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace tangere {

namespace {

using Clock = std::chrono::steady_clock;

constexpr hsize_t kContactsPerChunk = 1024;
constexpr std::size_t kMaxChunkBytes = std::size_t{4} << 20;
// Telling the file about new chunks costs milliseconds, however small they are. A run that fills a
// chunk in less time collects several: what a kill costs is then still only a moment of work.
constexpr std::chrono::milliseconds kMinInterval{100};
constexpr int kMaxChunksAtOnce = 16;
constexpr std::size_t kMaxBytesAtOnce = std::size_t{8} << 20;

/// One dataset that grows by rows. Values are collected by add(); handOver() gives them to the
/// thread that calls write(), which must have finished with those before.
template <class T>
class Column {
 public:
  /// `rowShape`: empty for one number a row, {3} for a vector, {bodies, 3} for a vector per body.
  void create(hid_t group, const char* name, const std::vector<hsize_t>& rowShape,
              hsize_t chunkRows, int compression) {
    rank_ = static_cast<int>(rowShape.size()) + 1;
    std::array<hsize_t, 3> limit{}, chunk{};
    limit[0] = H5S_UNLIMITED;
    chunk[0] = chunkRows;
    for (std::size_t i = 0; i < rowShape.size(); ++i)
      shape_[i + 1] = limit[i + 1] = chunk[i + 1] = rowShape[i];
    for (int i = 1; i < rank_; ++i) row_size_ *= static_cast<std::size_t>(shape_[i]);
    const io::Hdf5Handle space(H5Screate_simple(rank_, shape_.data(), limit.data()), H5Sclose);
    const io::Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), rank_, chunk.data());
    H5Pset_shuffle(properties.id());
    if (compression > 0) H5Pset_deflate(properties.id(), static_cast<unsigned>(compression));
    H5Pset_obj_track_times(properties.id(), false);
    dataset_ = io::Hdf5Handle(H5Dcreate2(group, name, io::fileType<T>(), space.id(), H5P_DEFAULT,
                                         properties.id(), H5P_DEFAULT),
                              H5Dclose);
  }
  void describe(const char* unit, const char* meaning) const {
    if (*unit != '\0') io::writeText(dataset_.id(), "unit", unit);
    if (*meaning != '\0') io::writeText(dataset_.id(), "meaning", meaning);
  }
  void add(T value) { buffer_.push_back(value); }
  void handOver() {
    std::swap(buffer_, handed_);
    buffer_.clear();
  }
  [[nodiscard]] bool write() {
    const auto rows = static_cast<hsize_t>(handed_.size() / row_size_);
    if (rows == 0) return dataset_.isValid();
    std::array<hsize_t, 3> begin{}, count = shape_, extent = shape_;
    begin[0] = shape_[0];
    count[0] = rows;
    extent[0] = shape_[0] + rows;
    if (H5Dset_extent(dataset_.id(), extent.data()) < 0) return false;
    const io::Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    const io::Hdf5Handle memory(H5Screate_simple(rank_, count.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
    const bool written = H5Dwrite(dataset_.id(), io::nativeType<T>(), memory.id(), space.id(),
                                  H5P_DEFAULT, handed_.data()) >= 0;
    shape_ = extent;
    handed_.clear();
    return written;
  }
  void close() { dataset_.reset(); }

 private:
  io::Hdf5Handle dataset_;
  int rank_ = 1;
  std::array<hsize_t, 3> shape_{};
  std::size_t row_size_ = 1;
  std::vector<T> buffer_, handed_;
};

template <class T>
void add(Column<T>& column, T value) {
  column.add(value);
}
void add(Column<Real>& column, const Vec3& v) {
  column.add(v.x);
  column.add(v.y);
  column.add(v.z);
}
void add(Column<Real>& column, const Quat& q) {
  column.add(q.w);
  column.add(q.x);
  column.add(q.y);
  column.add(q.z);
}

bool isFinite(Real value) { return std::isfinite(value); }
bool isFinite(const Vec3& v) { return isFinite(v.x) && isFinite(v.y) && isFinite(v.z); }
bool isFinite(const Quat& q) { return isFinite(q.w) && isFinite(Vec3{q.x, q.y, q.z}); }

template <class Row, class Value, std::size_t N>
void requireFinite(const io::Field<Row, Value> (&fields)[N], const Row& row, const char* of) {
  for (const auto& field : fields)
    TANGERE_REQUIRE(
        isFinite(row.*field.member),
        std::string("not recorded: a number that is not finite in ") + of + " " + field.name);
}

/// All columns of a recording, in groups.
struct Columns {
  Column<Real> time;
  Column<std::uint64_t> stateHash;
  Column<std::uint64_t> step;  // written last: its length is the number of whole frames
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

  /// Calls visit(column) for every column except `step`; stops at the first false.
  template <class Visit>
  bool forEachButStep(Visit visit) {
    const auto all = [&](auto& columns) {
      return std::all_of(columns.begin(), columns.end(), visit);
    };
    return all(contactInts) && all(contactIds) && all(contactVectors) && all(contactReals) &&
           visit(contactOffset) && visit(position) && visit(quaternion) && visit(linearVelocity) &&
           visit(angularVelocity) && visit(status) && all(reportInts) && all(reportReals) &&
           all(ledgerReals) && visit(time) && visit(stateHash);
  }
};

}  // namespace

struct RecordingWriter::Impl {
  std::string name, partial;
  io::DriverFile driver;  // outlives `file`
  io::Hdf5Handle file;
  Columns columns;
  int numBodies = 0;
  int framesPerChunk = 0;
  int framesBuffered = 0;
  std::size_t bytesBuffered = 0;
  Clock::time_point handedAt = Clock::now();
  std::uint64_t numFrames = 0, framesHanded = 0, numContacts = 0;
  bool isOpen = false;

  // The thread writes while hasWork; what it writes with is its own for that time.
  std::thread worker;
  std::mutex mutex;
  std::condition_variable changed;
  bool hasWork = false, isEnding = false;
  std::atomic<bool> hasFailed{false};
  std::uint64_t framesWritten = 0;

  explicit Impl(const std::filesystem::path& path, int bodies)
      : name(path.string()), partial(io::partialName(name)), numBodies(bodies) {}
  Impl(const std::filesystem::path& path, const Model& model, const RecordingOptions& options);
  ~Impl();
  void createFile(const Model& model);
  void createColumns(int compression);
  void startWorker();
  void addFrame(const RecordFrame& frame);
  [[nodiscard]] bool isDue() const;
  void handOver();
  void waitForWorker();
  void stopWorker();
  void writeHanded() noexcept;
  void closeFile();
  [[noreturn]] void fail() const;
};

// It delegates: from here on the destructor runs whatever is thrown.
RecordingWriter::Impl::Impl(const std::filesystem::path& path, const Model& model,
                            const RecordingOptions& options)
    : Impl(path, model.numBodies()) {
  TANGERE_REQUIRE(numBodies > 0, "a recording needs at least one body");
  TANGERE_REQUIRE(options.framesPerChunk > 0, "frames per chunk must be positive",
                  options.framesPerChunk);
  TANGERE_REQUIRE(options.compression >= 0 && options.compression <= 9,
                  "compression must be from 0 to 9", options.compression);
  const std::size_t frameBytes = static_cast<std::size_t>(numBodies) * sizeof(Quat);
  framesPerChunk = static_cast<int>(std::clamp<std::size_t>(
      kMaxChunkBytes / frameBytes, 1, static_cast<std::size_t>(options.framesPerChunk)));
  driver.descriptor = io::openPartial(name);

  const io::QuietHdf5 quiet;
  createFile(model);
  createColumns(options.compression);
  if (H5Fflush(file.id(), H5F_SCOPE_GLOBAL) < 0 || driver.error != 0 ||
      H5Fstart_swmr_write(file.id()) < 0 || driver.error != 0)
    fail();
  isOpen = true;
  startWorker();
}

void RecordingWriter::Impl::createFile(const Model& model) {
  const io::Hdf5Handle access = io::makeDriverAccess(driver);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  file =
      io::Hdf5Handle(H5Fcreate(partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.isValid()) fail();
  io::writeText(file.id(), "format", std::string(io::kRecordingFormat));
  io::writeInteger(file.id(), "format_version", io::kRecordingVersion);
  io::writeText(file.id(), "engine", "tangere " TANGERE_VERSION_STRING);
  io::writeText(file.id(), "units", "SI: m, kg, s, rad, N, J");
  io::writeText(file.id(), "quaternion_order", "w x y z");
  io::writeText(file.id(), "contact_convention",
                "normal from body 2 to body 1, force and torque on body 1; depth > 0 overlaps");
  io::writeReal(file.id(), "dt", model.options().dt);
  io::writeModel(file.id(), model);
}

RecordingWriter::Impl::~Impl() {
  const io::QuietHdf5 quiet;
  try {
    if (isOpen) handOver();
  } catch (const FileError&) {  // the file keeps what it has: nobody is left to be told
  }
  stopWorker();
  closeFile();
  if (driver.descriptor >= 0) ::close(driver.descriptor);
  if (driver.descriptor >= 0 && !isOpen) unlink(partial.c_str());  // it never held a frame
}

void RecordingWriter::Impl::createColumns(int compression) {
  const auto bodies = static_cast<hsize_t>(numBodies);
  const auto rows = static_cast<hsize_t>(framesPerChunk);
  const auto make = [&](const io::Hdf5Handle& group, auto& column, const char* columnName,
                        const std::vector<hsize_t>& shape, hsize_t chunk, const char* unit,
                        const char* meaning) {
    column.create(group.id(), columnName, shape, chunk, compression);
    column.describe(unit, meaning);
  };
  const auto makeAll = [&](const io::Hdf5Handle& group, auto& list, const auto& fields,
                           const std::vector<hsize_t>& shape, hsize_t chunk) {
    for (std::size_t i = 0; i < list.size(); ++i)
      make(group, list[i], fields[i].name, shape, chunk, fields[i].unit, fields[i].meaning);
  };

  const io::Hdf5Handle frames = io::makeGroup(file.id(), "frames");
  make(frames, columns.time, "time", {}, rows, "s", "");
  make(frames, columns.step, "step", {}, rows, "", "steps taken; its length counts the frames");
  make(frames, columns.stateHash, "state_hash", {}, rows, "", "hash of the whole state");
  const io::Hdf5Handle body = io::makeGroup(file.id(), "bodies");
  make(body, columns.position, "position", {bodies, 3}, rows, "m", "of the body's origin, world");
  make(body, columns.quaternion, "quaternion", {bodies, 4}, rows, "", "w x y z, body to world");
  make(body, columns.linearVelocity, "linear_velocity", {bodies, 3}, rows, "m/s",
       "of the body's origin, world");
  make(body, columns.angularVelocity, "angular_velocity", {bodies, 3}, rows, "rad/s", "world");
  const io::Hdf5Handle contacts = io::makeGroup(file.id(), "contacts");
  make(contacts, columns.contactOffset, "offset", {}, rows, "",
       "frame i has the rows from offset[i] to offset[i + 1] of the other columns");
  makeAll(contacts, columns.contactInts, io::kContactInts, {}, kContactsPerChunk);
  makeAll(contacts, columns.contactIds, io::kContactIds, {}, kContactsPerChunk);
  makeAll(contacts, columns.contactVectors, io::kContactVectors, {3}, kContactsPerChunk);
  makeAll(contacts, columns.contactReals, io::kContactReals, {}, kContactsPerChunk);
  columns.contactOffset.add(0);
  const io::Hdf5Handle solver = io::makeGroup(file.id(), "solver");
  make(solver, columns.status, "status", {}, rows, "", io::kStatusMeaning);
  makeAll(solver, columns.reportInts, io::kReportInts, {}, rows);
  makeAll(solver, columns.reportReals, io::kReportReals, {}, rows);
  const io::Hdf5Handle energy = io::makeGroup(file.id(), "energy");
  makeAll(energy, columns.ledgerReals, io::kLedgerReals, {}, rows);
}

void RecordingWriter::Impl::addFrame(const RecordFrame& frame) {
  add(columns.time, frame.time);
  add(columns.step, frame.step);
  add(columns.stateHash, frame.stateHash);
  for (const BodyState& body : frame.bodies) {
    add(columns.position, body.pose.translation);
    add(columns.quaternion, body.orientation);
    add(columns.linearVelocity, body.linearVelocity);
    add(columns.angularVelocity, body.angularVelocity);
  }
  const auto addAll = [](auto& list, const auto& fields, const auto& row) {
    for (std::size_t i = 0; i < list.size(); ++i) add(list[i], row.*fields[i].member);
  };
  for (const ContactForce& contact : frame.contacts) {
    addAll(columns.contactInts, io::kContactInts, contact);
    addAll(columns.contactIds, io::kContactIds, contact);
    addAll(columns.contactVectors, io::kContactVectors, contact);
    addAll(columns.contactReals, io::kContactReals, contact);
  }
  numContacts += frame.contacts.size();
  add(columns.contactOffset, numContacts);
  add(columns.status, static_cast<std::uint32_t>(frame.report.status));
  addAll(columns.reportInts, io::kReportInts, frame.report);
  addAll(columns.reportReals, io::kReportReals, frame.report);
  addAll(columns.ledgerReals, io::kLedgerReals, frame.energy);
  ++framesBuffered;
  ++numFrames;
  bytesBuffered +=
      frame.bodies.size() * 13 * sizeof(Real) + frame.contacts.size() * sizeof(ContactForce);
}

bool RecordingWriter::Impl::isDue() const {
  if (framesBuffered % framesPerChunk != 0) return false;
  return Clock::now() - handedAt >= kMinInterval || bytesBuffered >= kMaxBytesAtOnce ||
         framesBuffered >= kMaxChunksAtOnce * framesPerChunk;
}

void RecordingWriter::Impl::startWorker() {
  hbool_t isThreadsafe = false;
  if (H5is_library_threadsafe(&isThreadsafe) < 0 || !isThreadsafe) return;
  const auto work = [this] {
    const io::QuietHdf5 quiet;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return hasWork || isEnding; });
      if (!hasWork) return;
      lock.unlock();
      writeHanded();
      lock.lock();
      hasWork = false;
      changed.notify_all();
    }
  };
  try {
    worker = std::thread(work);
  } catch (const std::system_error&) {  // no thread to be had: append() writes
  }
}

void RecordingWriter::Impl::waitForWorker() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !hasWork; });
}

void RecordingWriter::Impl::stopWorker() {
  if (!worker.joinable()) return;
  {
    const std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  worker.join();
}

/// Gives what was collected to the thread, or writes it where there is none.
void RecordingWriter::Impl::handOver() {
  waitForWorker();
  if (hasFailed) fail();
  columns.forEachButStep([](auto& column) {
    column.handOver();
    return true;
  });
  columns.step.handOver();
  framesHanded = numFrames;
  framesBuffered = 0;
  bytesBuffered = 0;
  handedAt = Clock::now();
  if (worker.joinable()) {
    const std::lock_guard lock(mutex);
    hasWork = true;
    changed.notify_all();
    return;
  }
  writeHanded();
  if (hasFailed) fail();
}

void RecordingWriter::Impl::writeHanded() noexcept {
  const bool written = columns.forEachButStep([](auto& column) { return column.write(); }) &&
                       H5Fflush(file.id(), H5F_SCOPE_GLOBAL) >= 0 && columns.step.write() &&
                       H5Fflush(file.id(), H5F_SCOPE_GLOBAL) >= 0;
  if (written && driver.error == 0)
    framesWritten = framesHanded;
  else
    hasFailed = true;
}

void RecordingWriter::Impl::closeFile() {
  columns.forEachButStep([](auto& column) {
    column.close();
    return true;
  });
  columns.step.close();
  file.reset();
}

void RecordingWriter::Impl::fail() const {
  const std::string reason = driver.error != 0 ? std::strerror(driver.error) : "HDF5 refused";
  throw FileError(partial + ": cannot be written beyond " + std::to_string(driver.size) +
                  " bytes: " + reason + "; it holds " + std::to_string(framesWritten) +
                  " whole frames");
}

RecordingWriter::RecordingWriter(const std::filesystem::path& path, const Model& model,
                                 const RecordingOptions& options)
    : impl_(std::make_unique<Impl>(path, model, options)) {}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::append(const RecordFrame& frame) {
  TANGERE_REQUIRE(impl_->isOpen, "the recording is closed");
  TANGERE_REQUIRE(frame.bodies.size() == static_cast<std::size_t>(impl_->numBodies),
                  "a frame has one entry for each body", frame.bodies.size(), impl_->numBodies);
  TANGERE_REQUIRE(isFinite(frame.time), "not recorded: the time is not finite");
  for (std::size_t i = 0; i < frame.bodies.size(); ++i) {
    const BodyState& body = frame.bodies[i];
    TANGERE_REQUIRE(isFinite(body.pose.translation) && isFinite(body.orientation) &&
                        isFinite(body.linearVelocity) && isFinite(body.angularVelocity),
                    "not recorded: a number that is not finite in a body", i);
  }
  for (const ContactForce& contact : frame.contacts) {
    requireFinite(io::kContactVectors, contact, "contact");
    requireFinite(io::kContactReals, contact, "contact");
  }
  requireFinite(io::kReportReals, frame.report, "solver");
  requireFinite(io::kLedgerReals, frame.energy, "energy");
  impl_->addFrame(frame);
  if (!impl_->isDue()) return;
  const io::QuietHdf5 quiet;
  impl_->handOver();
}

void RecordingWriter::flush() {
  TANGERE_REQUIRE(impl_->isOpen, "the recording is closed");
  const io::QuietHdf5 quiet;
  impl_->handOver();
  impl_->waitForWorker();
  if (impl_->hasFailed) impl_->fail();
}

std::uint64_t RecordingWriter::numFrames() const { return impl_->numFrames; }

void RecordingWriter::close() {
  if (!impl_->isOpen) return;
  flush();
  impl_->isOpen = false;
  impl_->stopWorker();
  const io::QuietHdf5 quiet;
  impl_->closeFile();
  const int descriptor = std::exchange(impl_->driver.descriptor, -1);
  if (impl_->driver.error != 0) {
    ::close(descriptor);
    impl_->fail();
  }
  io::finishPartial(impl_->name, descriptor);
}

}  // namespace tangere
