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
#include "io/record_column.hpp"
#include "io/recording_layout.hpp"
#include "model/model_data.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tangere {

namespace {

using Clock = std::chrono::steady_clock;

constexpr hsize_t kContactsPerChunk = 1024;
constexpr hsize_t kVerticesPerChunk = 4096;
constexpr std::size_t kMaxChunkBytes = std::size_t{4} << 20;
// Telling the file about new chunks costs milliseconds, however small they are. A run that fills a
// chunk in less time collects several: what a kill costs is then still only a moment of work.
constexpr std::chrono::milliseconds kMinInterval{100};
constexpr int kMaxChunksAtOnce = 16;
constexpr std::size_t kMaxBytesAtOnce = std::size_t{8} << 20;

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

template <class T>
using Column = io::RecordColumn<T>;

/// All columns of a recording, in groups; those of what a model does not have are never created.
struct Columns {
  Column<Real> time;
  Column<std::uint64_t> stateHash;
  Column<std::uint64_t> step;  // written last: its length is the number of whole frames
  Column<Real> position, quaternion, linearVelocity, angularVelocity;
  Column<std::uint8_t> isAsleep;
  Column<std::int32_t> numEvents;
  Column<std::uint64_t> contactOffset;
  std::array<Column<std::int32_t>, std::size(io::kContactInts)> contactInts;
  std::array<Column<std::uint64_t>, std::size(io::kContactIds)> contactIds;
  std::array<Column<Real>, std::size(io::kContactVectors)> contactVectors;
  std::array<Column<Real>, std::size(io::kContactReals)> contactReals;
  Column<std::uint32_t> status;
  std::array<Column<std::int32_t>, std::size(io::kReportInts)> reportInts;
  std::array<Column<Real>, std::size(io::kReportReals)> reportReals;
  std::array<Column<Real>, std::size(io::kLedgerReals)> ledgerReals;
  Column<Real> softPosition, sensors;
  Column<std::uint64_t> polygonOffset, firstVertex;
  std::array<Column<std::int32_t>, std::size(io::kSideInts)> side1Ints, side2Ints;
  std::array<Column<std::int32_t>, std::size(io::kPolygonInts)> polygonInts;
  std::array<Column<Real>, std::size(io::kPolygonVectors)> polygonVectors;
  std::array<Column<Real>, std::size(io::kPolygonReals)> polygonReals;
  Column<Real> vertex, vertexPressure;
  std::array<Column<std::int32_t>, std::size(io::kPressureReportInts)> pressureReportInts;

  /// Calls visit(column) for every column except `step`; stops at the first false.
  template <class Visit>
  bool forEachButStep(Visit visit) {
    const auto all = [&](auto& columns) {
      return std::all_of(columns.begin(), columns.end(), visit);
    };
    return visit(vertex) && visit(vertexPressure) && visit(firstVertex) && all(side1Ints) &&
           all(side2Ints) && all(polygonInts) && all(polygonVectors) && all(polygonReals) &&
           visit(polygonOffset) && all(pressureReportInts) && visit(softPosition) &&
           visit(sensors) && all(contactInts) && all(contactIds) && all(contactVectors) &&
           all(contactReals) && visit(contactOffset) && visit(position) && visit(quaternion) &&
           visit(linearVelocity) && visit(angularVelocity) && visit(isAsleep) && visit(numEvents) &&
           visit(status) && all(reportInts) && all(reportReals) && all(ledgerReals) &&
           visit(time) && visit(stateHash);
  }
};

/// One column for each field of a row.
template <class Columns, class Fields, class Row>
void addAll(Columns& list, const Fields& fields, const Row& row) {
  for (std::size_t i = 0; i < list.size(); ++i) add(list[i], row.*fields[i].member);
}

/// Creates columns that say what they are.
struct Maker {
  int compression = 0;

  template <class T>
  void operator()(const io::Hdf5Handle& group, Column<T>& column, const std::string& name,
                  const std::vector<hsize_t>& rowShape, hsize_t chunk, const char* unit,
                  const char* meaning) const {
    column.create(group.id(), name.c_str(), rowShape, chunk, compression);
    column.describe(unit, meaning);
  }
  template <class Columns, class Fields>
  void all(const io::Hdf5Handle& group, Columns& list, const Fields& fields,
           const std::vector<hsize_t>& rowShape, hsize_t chunk,
           const std::string& ending = "") const {
    for (std::size_t i = 0; i < list.size(); ++i)
      (*this)(group, list[i], fields[i].name + ending, rowShape, chunk, fields[i].unit,
              fields[i].meaning);
  }
};

void requireFinitePolygon(const PressurePolygon& polygon) {
  TANGERE_REQUIRE(polygon.numVertices >= 0 && polygon.numVertices <= PressurePolygon::kMaxVertices,
                  "not recorded: a polygon with an impossible number of vertices",
                  polygon.numVertices);
  requireFinite(io::kPolygonVectors, polygon, "polygon");
  requireFinite(io::kPolygonReals, polygon, "polygon");
  for (std::size_t i = 0; i < static_cast<std::size_t>(polygon.numVertices); ++i)
    TANGERE_REQUIRE(isFinite(polygon.vertices[i]) && isFinite(polygon.pressures[i]),
                    "not recorded: a number that is not finite in a vertex of a polygon", i);
}

}  // namespace

struct RecordingWriter::Impl {
  io::PartialFile output;
  io::DriverFile driver;  // outlives `file`
  io::Hdf5Handle file;
  Columns columns;
  std::size_t numBodies = 0, numSoftVertices = 0, numSensorValues = 0;
  bool hasPressure = false;
  int framesPerChunk = 0;
  int framesBuffered = 0;
  std::size_t bytesBuffered = 0;
  Clock::time_point handedAt = Clock::now();
  std::uint64_t numFrames = 0, framesHanded = 0, numContacts = 0;
  std::uint64_t numPolygons = 0, numVertices = 0;
  bool isOpen = false;

  // The thread writes while hasWork; what it writes with is its own for that time.
  std::thread worker;
  std::mutex mutex;
  std::condition_variable changed;
  bool hasWork = false, isEnding = false;
  std::atomic<bool> hasFailed{false}, lacksMemory{false};
  std::uint64_t framesWritten = 0;

  explicit Impl(const std::filesystem::path& path) : output(path.string()) {}
  Impl(const std::filesystem::path& path, const Model& model, const RecordingOptions& options);
  ~Impl();
  void createFile(const Model& model, const RecordingOptions& options);
  void createColumns(int compression);
  void createBodyColumns(const Maker& make);
  void createPressureColumns(const Maker& make);
  void startWorker();
  void requireFits(const RecordFrame& frame) const;
  void addFrame(const RecordFrame& frame);
  void addPolygon(const PressurePolygon& polygon);
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
    : Impl(path) {
  numBodies = static_cast<std::size_t>(model.numBodies());
  numSoftVertices = static_cast<std::size_t>(model.numSoftVertices());
  numSensorValues = static_cast<std::size_t>(model.numSensorValues());
  hasPressure = model.data().hasPressure;
  TANGERE_REQUIRE(numBodies + numSoftVertices > 0, "a recording needs at least one body");
  TANGERE_REQUIRE(options.framesPerChunk > 0, "frames per chunk must be positive",
                  options.framesPerChunk);
  TANGERE_REQUIRE(options.compression >= 0 && options.compression <= 9,
                  "compression must be from 0 to 9", options.compression);
  const std::size_t frameBytes = std::max(
      {numBodies * sizeof(Quat), numSoftVertices * sizeof(Vec3), numSensorValues * sizeof(Real)});
  framesPerChunk = static_cast<int>(std::clamp<std::size_t>(
      kMaxChunkBytes / frameBytes, 1, static_cast<std::size_t>(options.framesPerChunk)));
  io::requireHdf5Memory();
  driver.descriptor = output.descriptor();

  const io::QuietHdf5 quiet;
  createFile(model, options);
  createColumns(options.compression);
  if (H5Fflush(file.id(), H5F_SCOPE_GLOBAL) < 0 || driver.error != 0 ||
      H5Fstart_swmr_write(file.id()) < 0 || driver.error != 0)
    fail();
  isOpen = true;
  startWorker();
}

void RecordingWriter::Impl::createFile(const Model& model, const RecordingOptions& options) {
  const io::Hdf5Handle access = io::makeDriverAccess(driver);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  file = io::Hdf5Handle(
      H5Fcreate(output.partial().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.isValid()) fail();
  io::writePaddedText(file.id(), "format", std::string(io::kRecordingFormat));
  io::writeInteger(file.id(), "format_version", io::kRecordingVersion);
  io::writeText(file.id(), "engine", "tangere " TANGERE_VERSION_STRING);
  io::writeText(file.id(), "units", "SI: m, kg, s, rad, N, J");
  io::writeText(file.id(), "quaternion_order", "w x y z");
  io::writeText(file.id(), "contact_convention",
                "normal from body 2 to body 1, force and torque on body 1; depth > 0 overlaps");
  io::writeReal(file.id(), "dt", model.options().dt);
  io::writeModel(file.id(), model, options.visuals);
}

RecordingWriter::Impl::~Impl() {
  const io::QuietHdf5 quiet;
  try {
    if (isOpen) handOver();
  } catch (const std::exception&) {  // the file keeps what it has: nobody is left to be told
  }
  stopWorker();
  closeFile();
  if (isOpen) output.keep();  // else it never held a frame
}

void RecordingWriter::Impl::createColumns(int compression) {
  const auto rows = static_cast<hsize_t>(framesPerChunk);
  const Maker make{compression};
  const io::Hdf5Handle frames = io::makeGroup(file.id(), "frames");
  make(frames, columns.time, "time", {}, rows, "s", "");
  make(frames, columns.step, "step", {}, rows, "", "steps taken; its length counts the frames");
  make(frames, columns.stateHash, "state_hash", {}, rows, "", "hash of the whole state");
  make(frames, columns.numEvents, "events", {}, rows, "",
       "of the event solver, within the step; 0 for the others");
  if (numBodies > 0) createBodyColumns(make);
  const io::Hdf5Handle contacts = io::makeGroup(file.id(), "contacts");
  make(contacts, columns.contactOffset, "offset", {}, rows, "",
       "frame i has the rows from offset[i] to offset[i + 1] of the other columns");
  make.all(contacts, columns.contactInts, io::kContactInts, {}, kContactsPerChunk);
  make.all(contacts, columns.contactIds, io::kContactIds, {}, kContactsPerChunk);
  make.all(contacts, columns.contactVectors, io::kContactVectors, {3}, kContactsPerChunk);
  make.all(contacts, columns.contactReals, io::kContactReals, {}, kContactsPerChunk);
  columns.contactOffset.add(0);
  const io::Hdf5Handle solver = io::makeGroup(file.id(), "solver");
  make(solver, columns.status, "status", {}, rows, "", io::kStatusMeaning);
  make.all(solver, columns.reportInts, io::kReportInts, {}, rows);
  make.all(solver, columns.reportReals, io::kReportReals, {}, rows);
  const io::Hdf5Handle energy = io::makeGroup(file.id(), "energy");
  make.all(energy, columns.ledgerReals, io::kLedgerReals, {}, rows);
  if (hasPressure) {
    make.all(solver, columns.pressureReportInts, io::kPressureReportInts, {}, rows);
    createPressureColumns(make);
  }
  if (numSoftVertices > 0) {
    const io::Hdf5Handle soft = io::makeGroup(file.id(), "soft_bodies");
    make(soft, columns.softPosition, "position", {numSoftVertices, 3}, rows, "m",
         "of all vertices, world; /model/soft_bodies/vertex_offset says whose they are");
  }
  if (numSensorValues > 0) {
    const io::Hdf5Handle sensors = io::makeGroup(file.id(), "sensors");
    make(sensors, columns.sensors, "values", {numSensorValues}, rows, "",
         "of all sensors; /model/sensors/value_offset says whose they are");
  }
}

void RecordingWriter::Impl::createBodyColumns(const Maker& make) {
  const auto rows = static_cast<hsize_t>(framesPerChunk);
  const io::Hdf5Handle body = io::makeGroup(file.id(), "bodies");
  make(body, columns.position, "position", {numBodies, 3}, rows, "m",
       "of the body's origin, world");
  make(body, columns.quaternion, "quaternion", {numBodies, 4}, rows, "", "w x y z, body to world");
  make(body, columns.linearVelocity, "linear_velocity", {numBodies, 3}, rows, "m/s",
       "of the body's origin, world");
  make(body, columns.angularVelocity, "angular_velocity", {numBodies, 3}, rows, "rad/s", "world");
  make(body, columns.isAsleep, "asleep", {numBodies}, rows, "", "1: it sleeps and does not move");
}

void RecordingWriter::Impl::createPressureColumns(const Maker& make) {
  const io::Hdf5Handle pressure = io::makeGroup(file.id(), "pressure");
  make(pressure, columns.polygonOffset, "offset", {}, static_cast<hsize_t>(framesPerChunk), "",
       "frame i has the polygons from offset[i] to offset[i + 1]");
  make(pressure, columns.firstVertex, "first_vertex", {}, kContactsPerChunk, "",
       "row of vertex and vertex_pressure at which the polygon begins");
  make.all(pressure, columns.side1Ints, io::kSideInts, {}, kContactsPerChunk, "1");
  make.all(pressure, columns.side2Ints, io::kSideInts, {}, kContactsPerChunk, "2");
  make.all(pressure, columns.polygonInts, io::kPolygonInts, {}, kContactsPerChunk);
  make.all(pressure, columns.polygonVectors, io::kPolygonVectors, {3}, kContactsPerChunk);
  make.all(pressure, columns.polygonReals, io::kPolygonReals, {}, kContactsPerChunk);
  make(pressure, columns.vertex, "vertex", {3}, kVerticesPerChunk, "m",
       "world, counter-clockwise about the normal");
  make(pressure, columns.vertexPressure, "vertex_pressure", {}, kVerticesPerChunk, "Pa",
       "at the start of the step");
  columns.polygonOffset.add(0);
}

void RecordingWriter::Impl::requireFits(const RecordFrame& frame) const {
  TANGERE_REQUIRE(frame.bodies.size() == numBodies, "a frame has one entry for each body",
                  frame.bodies.size(), numBodies);
  TANGERE_REQUIRE(frame.softVertices.size() == numSoftVertices,
                  "a frame has one position for each vertex of a soft body",
                  frame.softVertices.size(), numSoftVertices);
  TANGERE_REQUIRE(frame.sensors.size() == numSensorValues,
                  "a frame has all readings of the sensors", frame.sensors.size(), numSensorValues);
  TANGERE_REQUIRE(frame.isAsleep.empty() || frame.isAsleep.size() == numBodies,
                  "a frame says of each body whether it sleeps, or of none", frame.isAsleep.size(),
                  numBodies);
  TANGERE_REQUIRE(hasPressure || frame.polygons.empty(),
                  "polygons of a model without pressure contacts", frame.polygons.size());
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
  for (std::size_t i = 0; i < frame.softVertices.size(); ++i)
    TANGERE_REQUIRE(isFinite(frame.softVertices[i]),
                    "not recorded: a number that is not finite in a vertex", i);
  for (std::size_t i = 0; i < frame.sensors.size(); ++i)
    TANGERE_REQUIRE(isFinite(frame.sensors[i]),
                    "not recorded: a reading of a sensor that is not finite", i);
  for (const PressurePolygon& polygon : frame.polygons) requireFinitePolygon(polygon);
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
  for (std::size_t i = 0; i < numBodies; ++i)
    add(columns.isAsleep, std::uint8_t(i < frame.isAsleep.size() && frame.isAsleep[i] != 0));
  add(columns.numEvents, frame.numEvents);
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
  for (const Vec3& x : frame.softVertices) add(columns.softPosition, x);
  for (const Real value : frame.sensors) add(columns.sensors, value);
  if (hasPressure) {
    addAll(columns.pressureReportInts, io::kPressureReportInts, frame.report);
    for (const PressurePolygon& polygon : frame.polygons) addPolygon(polygon);
    numPolygons += frame.polygons.size();
    add(columns.polygonOffset, numPolygons);
  }
  ++framesBuffered;
  ++numFrames;
  bytesBuffered += frame.bodies.size() * 13 * sizeof(Real) +
                   frame.contacts.size() * sizeof(ContactForce) + frame.softVertices.size_bytes() +
                   frame.sensors.size_bytes() + frame.polygons.size_bytes();
}

void RecordingWriter::Impl::addPolygon(const PressurePolygon& polygon) {
  addAll(columns.side1Ints, io::kSideInts, polygon.side1);
  addAll(columns.side2Ints, io::kSideInts, polygon.side2);
  addAll(columns.polygonInts, io::kPolygonInts, polygon);
  addAll(columns.polygonVectors, io::kPolygonVectors, polygon);
  addAll(columns.polygonReals, io::kPolygonReals, polygon);
  const auto count = static_cast<std::size_t>(polygon.numVertices);
  for (std::size_t i = 0; i < count; ++i) {
    add(columns.vertex, polygon.vertices[i]);
    add(columns.vertexPressure, polygon.pressures[i]);
  }
  add(columns.firstVertex, numVertices);
  numVertices += count;
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
  io::requireHdf5Memory(bytesBuffered);
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
  if (written && driver.error == 0) {
    framesWritten = framesHanded;
  } else {
    lacksMemory = io::hdf5LackedMemory();
    hasFailed = true;
  }
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
  if (driver.error == 0 && (lacksMemory || io::hdf5LackedMemory())) throw std::bad_alloc();
  const std::string reason = driver.error != 0 ? std::strerror(driver.error) : "HDF5 refused";
  throw FileError(output.partial() + ": cannot be written beyond " + std::to_string(driver.size) +
                  " bytes: " + reason + "; it holds " + std::to_string(framesWritten) +
                  " whole frames");
}

RecordingWriter::RecordingWriter(const std::filesystem::path& path, const Model& model,
                                 const RecordingOptions& options)
    : impl_(std::make_unique<Impl>(path, model, options)) {}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::append(const RecordFrame& frame) {
  TANGERE_REQUIRE(impl_->isOpen, "the recording is closed");
  impl_->requireFits(frame);
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
  try {
    if (impl_->driver.error != 0) impl_->fail();
    impl_->output.commit();
  } catch (const FileError&) {  // what it holds can be read
    impl_->output.keep();
    throw;
  }
}

}  // namespace tangere
