// SPDX-License-Identifier: Apache-2.0
//
// The reader. Frames are read in blocks of rows, as they were written. Nothing that the file says
// about its own sizes is believed before it was compared with the rest.
#include <tangere/error.hpp>
#include <tangere/recording.hpp>

#include "core/assert.hpp"
#include "dynamics/fem_assembly.hpp"
#include "io/open_recording.hpp"
#include "io/recorded_model.hpp"
#include "io/recording_layout.hpp"
#include "model/soft_mesh.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tangere {

namespace {

constexpr std::uint64_t kMaxFramesPerBlock = 128;
constexpr std::uint64_t kNumbersPerBlock = std::uint64_t{1} << 22;  // of one column: 32 MB

template <class T>
using Column = io::RecordedColumn<T>;

void assign(int& to, const Column<std::int32_t>& column, std::size_t row) { to = column.at(row); }
void assign(std::uint64_t& to, const Column<std::uint64_t>& column, std::size_t row) {
  to = column.at(row);
}
void assign(Real& to, const Column<Real>& column, std::size_t row) { to = column.at(row); }
/// The numbers of a column as vectors, however many make a row.
Vec3 vec3At(const Column<Real>& column, std::size_t index) {
  return {column.at(3 * index), column.at(3 * index + 1), column.at(3 * index + 2)};
}
void assign(Vec3& to, const Column<Real>& column, std::size_t row) { to = vec3At(column, row); }

}  // namespace

struct RecordingReader::Impl {
  io::OpenRecording file;
  std::vector<std::string> names;
  std::vector<BodyType> bodyTypes;
  std::vector<RecordedShape> shapes, visuals;
  std::vector<int> parents;
  std::vector<RecordedJoint> joints;
  std::vector<RecordedSoftBody> softs;
  std::vector<RecordedSensor> sensors;
  std::uint64_t modelHash = 0;
  std::uint64_t numSoftVertices = 0, numSensorValues = 0;
  bool hasPressure = false;
  std::int64_t numFrames = 0;
  std::int64_t blockBegin = 0, blockEnd = 0;
  std::int64_t framesPerBlock = 1;
  std::uint64_t contactsBegin = 0, polygonsBegin = 0, verticesBegin = 0;
  RecordedFrame current;
  std::vector<std::optional<model::SoftMesh>> elastic;  // of soft bodies; made when asked for

  Column<Real> time;
  Column<std::uint64_t> stateHash, step;
  Column<Real> position, quaternion, linearVelocity, angularVelocity;
  Column<std::uint8_t> isAsleep;  // this and the next: not in earlier versions
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
  Column<Real> softPosition, sensorValues;
  Column<std::uint64_t> polygonOffset, firstVertex;
  std::array<Column<std::int32_t>, std::size(io::kSideInts)> side1Ints, side2Ints;
  std::array<Column<std::int32_t>, std::size(io::kPolygonInts)> polygonInts;
  std::array<Column<Real>, std::size(io::kPolygonVectors)> polygonVectors;
  std::array<Column<Real>, std::size(io::kPolygonReals)> polygonReals;
  Column<Real> vertex, vertexPressure;
  std::array<Column<std::int32_t>, std::size(io::kPressureReportInts)> pressureReportInts;

  explicit Impl(const std::filesystem::path& path);
  void openColumns();
  void openPressureColumns();
  template <class Visit>
  void forEachFrameColumn(Visit visit);
  template <class Visit>
  void forEachContactColumn(Visit visit);
  template <class Visit>
  void forEachPolygonColumn(Visit visit);
  [[nodiscard]] std::uint64_t readOffsets(Column<std::uint64_t>& offset, std::uint64_t first,
                                          std::uint64_t count);
  void readBlock(std::int64_t first);
  void readPolygons(std::uint64_t first, std::uint64_t count);
  void fillCurrent(std::size_t row);
  void fillBodies(std::size_t row);
  void fillContacts(std::size_t row);
  void fillPolygons(std::size_t row);
  void requireSide(const PressureSide& side) const;
};

namespace {

template <class Columns, class Fields>
void openAll(const io::OpenRecording& file, const std::string& group, Columns& list,
             const Fields& fields, const std::vector<hsize_t>& rowShape,
             const std::string& ending = "") {
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i].open(file, group + fields[i].name + ending, rowShape);
}

template <class Row, class Columns, class Fields>
void assignAll(Row& target, const Columns& list, const Fields& fields, std::size_t at) {
  for (std::size_t i = 0; i < list.size(); ++i) assign(target.*fields[i].member, list[i], at);
}

template <class Visit, class... Lists>
void forEachOf(Visit visit, Lists&... lists) {
  (std::for_each(lists.begin(), lists.end(), visit), ...);
}

}  // namespace

RecordingReader::Impl::Impl(const std::filesystem::path& path)
    : file(path),
      names(file.readTexts("/model/body_name")),
      bodyTypes(io::readBodyTypes(file, names.size())),
      shapes(io::readShapes(file, "shapes", names.size())),
      visuals(io::readShapes(file, "visuals", names.size())),
      parents(io::readParents(file, names.size())),
      joints(io::readJoints(file, names.size())),
      softs(io::readSoftBodies(file)),
      sensors(io::readSensors(file)),
      modelHash(file.readModelHash()),
      hasPressure(file.has("/pressure")) {
  if (!softs.empty())
    numSoftVertices =
        static_cast<std::uint64_t>(softs.back().firstVertex + softs.back().numVertices);
  if (!sensors.empty())
    numSensorValues =
        static_cast<std::uint64_t>(sensors.back().firstValue + sensors.back().numValues);
  if (names.empty() && softs.empty()) file.reject("a recording without bodies");
  const std::uint64_t widest =
      std::max({std::uint64_t{4} * names.size(), 3 * numSoftVertices, numSensorValues});
  framesPerBlock = static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(kNumbersPerBlock / widest, 1, kMaxFramesPerBlock));
  openColumns();
  numFrames = static_cast<std::int64_t>(step.rows());
  // The writer gives step numbers last: every other column is as long, or the file is damaged.
  forEachFrameColumn([&](const auto& column) {
    if (column.isOpen() && column.rows() < step.rows())
      file.reject("its columns have different lengths");
  });
  if (numFrames > 0 && contactOffset.rows() < step.rows() + 1)
    file.reject("the column /contacts/offset is cut");
  if (numFrames > 0 && hasPressure && polygonOffset.rows() < step.rows() + 1)
    file.reject("the column /pressure/offset is cut");
}

void RecordingReader::Impl::openColumns() {
  const hsize_t bodies = names.size();
  time.open(file, "/frames/time", {});
  step.open(file, "/frames/step", {});
  stateHash.open(file, "/frames/state_hash", {});
  if (bodies > 0) {
    position.open(file, "/bodies/position", {bodies, 3});
    quaternion.open(file, "/bodies/quaternion", {bodies, 4});
    linearVelocity.open(file, "/bodies/linear_velocity", {bodies, 3});
    angularVelocity.open(file, "/bodies/angular_velocity", {bodies, 3});
    if (file.has("/bodies/asleep")) isAsleep.open(file, "/bodies/asleep", {bodies});
  }
  if (file.has("/frames/events")) numEvents.open(file, "/frames/events", {});
  contactOffset.open(file, "/contacts/offset", {});
  openAll(file, "/contacts/", contactInts, io::kContactInts, {});
  openAll(file, "/contacts/", contactIds, io::kContactIds, {});
  openAll(file, "/contacts/", contactVectors, io::kContactVectors, {3});
  openAll(file, "/contacts/", contactReals, io::kContactReals, {});
  status.open(file, "/solver/status", {});
  openAll(file, "/solver/", reportInts, io::kReportInts, {});
  openAll(file, "/solver/", reportReals, io::kReportReals, {});
  openAll(file, "/energy/", ledgerReals, io::kLedgerReals, {});
  if (!softs.empty()) softPosition.open(file, "/soft_bodies/position", {numSoftVertices, 3});
  if (!sensors.empty()) sensorValues.open(file, "/sensors/values", {numSensorValues});
  if (hasPressure) openPressureColumns();
}

void RecordingReader::Impl::openPressureColumns() {
  polygonOffset.open(file, "/pressure/offset", {});
  firstVertex.open(file, "/pressure/first_vertex", {});
  openAll(file, "/pressure/", side1Ints, io::kSideInts, {}, "1");
  openAll(file, "/pressure/", side2Ints, io::kSideInts, {}, "2");
  openAll(file, "/pressure/", polygonInts, io::kPolygonInts, {});
  openAll(file, "/pressure/", polygonVectors, io::kPolygonVectors, {3});
  openAll(file, "/pressure/", polygonReals, io::kPolygonReals, {});
  vertex.open(file, "/pressure/vertex", {3});
  vertexPressure.open(file, "/pressure/vertex_pressure", {});
  openAll(file, "/solver/", pressureReportInts, io::kPressureReportInts, {});
}

/// Those that a recording does not have are visited too: they are not open.
template <class Visit>
void RecordingReader::Impl::forEachFrameColumn(Visit visit) {
  visit(time);
  visit(step);
  visit(stateHash);
  visit(position);
  visit(quaternion);
  visit(linearVelocity);
  visit(angularVelocity);
  visit(isAsleep);
  visit(numEvents);
  visit(status);
  visit(softPosition);
  visit(sensorValues);
  forEachOf(visit, reportInts, reportReals, ledgerReals, pressureReportInts);
}

template <class Visit>
void RecordingReader::Impl::forEachContactColumn(Visit visit) {
  forEachOf(visit, contactInts, contactIds, contactVectors, contactReals);
}

template <class Visit>
void RecordingReader::Impl::forEachPolygonColumn(Visit visit) {
  visit(firstVertex);
  forEachOf(visit, side1Ints, side2Ints, polygonInts, polygonVectors, polygonReals);
}

/// Reads where the rows of some frames begin; returns how many rows they have.
std::uint64_t RecordingReader::Impl::readOffsets(Column<std::uint64_t>& offset, std::uint64_t first,
                                                 std::uint64_t count) {
  offset.read(file, first, count + 1);
  for (std::size_t i = 0; i < count; ++i)
    if (offset.at(i) > offset.at(i + 1)) file.reject("the column " + offset.path() + " is damaged");
  return offset.at(count) - offset.at(0);
}

void RecordingReader::Impl::readBlock(std::int64_t first) {
  blockBegin = blockEnd = 0;
  const auto begin = static_cast<std::uint64_t>(first);
  const auto count = static_cast<std::uint64_t>(std::min(framesPerBlock, numFrames - first));
  forEachFrameColumn([&](auto& column) {
    if (column.isOpen()) column.read(file, begin, count);
  });
  const std::uint64_t contacts = readOffsets(contactOffset, begin, count);
  contactsBegin = contactOffset.at(0);
  forEachContactColumn([&](auto& column) { column.read(file, contactsBegin, contacts); });
  if (hasPressure) readPolygons(begin, count);
  blockBegin = first;
  blockEnd = first + static_cast<std::int64_t>(count);
}

void RecordingReader::Impl::readPolygons(std::uint64_t first, std::uint64_t count) {
  const std::uint64_t polygons = readOffsets(polygonOffset, first, count);
  polygonsBegin = polygonOffset.at(0);
  forEachPolygonColumn([&](auto& column) { column.read(file, polygonsBegin, polygons); });
  const Column<std::int32_t>& numVertices = polygonInts.front();
  static_assert(std::size(io::kPolygonInts) == 1);
  verticesBegin = polygons > 0 ? firstVertex.at(0) : 0;
  std::uint64_t vertices = 0;
  for (std::size_t i = 0; i < polygons; ++i) {
    const std::int32_t own = numVertices.at(i);
    if (own < 0 || own > PressurePolygon::kMaxVertices ||
        firstVertex.at(i) != verticesBegin + vertices)
      file.reject("the vertices of a pressure polygon are damaged");
    vertices += static_cast<std::uint64_t>(own);
  }
  vertex.read(file, verticesBegin, vertices);
  vertexPressure.read(file, verticesBegin, vertices);
}

void RecordingReader::Impl::fillCurrent(std::size_t row) {
  current.time = time.at(row);
  current.step = step.at(row);
  current.stateHash = stateHash.at(row);
  current.numEvents = numEvents.isOpen() ? numEvents.at(row) : 0;
  fillBodies(row);
  fillContacts(row);
  current.report.status = static_cast<StepStatus>(status.at(row));
  assignAll(current.report, reportInts, io::kReportInts, row);
  assignAll(current.report, reportReals, io::kReportReals, row);
  assignAll(current.energy, ledgerReals, io::kLedgerReals, row);
  current.softVertices.resize(numSoftVertices);
  for (std::size_t i = 0; i < numSoftVertices; ++i)
    current.softVertices[i] = vec3At(softPosition, row * numSoftVertices + i);
  current.sensors.resize(numSensorValues);
  for (std::size_t i = 0; i < numSensorValues; ++i)
    current.sensors[i] = sensorValues.at(row * numSensorValues + i);
  if (!hasPressure) return;
  assignAll(current.report, pressureReportInts, io::kPressureReportInts, row);
  fillPolygons(row);
}

void RecordingReader::Impl::fillBodies(std::size_t row) {
  current.bodies.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t at = row * names.size() + i;  // rows of the file are whole frames
    BodyState& body = current.bodies[i];
    body.orientation = {quaternion.at(4 * at), quaternion.at(4 * at + 1), quaternion.at(4 * at + 2),
                        quaternion.at(4 * at + 3)};
    body.pose = {rotationMatrix(body.orientation), vec3At(position, at)};
    body.linearVelocity = vec3At(linearVelocity, at);
    body.angularVelocity = vec3At(angularVelocity, at);
  }
  if (!isAsleep.isOpen()) return;
  const auto asleep = isAsleep.values().subspan(row * names.size(), names.size());
  current.isAsleep.assign(asleep.begin(), asleep.end());
}

void RecordingReader::Impl::fillContacts(std::size_t row) {
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
}

void RecordingReader::Impl::fillPolygons(std::size_t row) {
  current.polygons.assign(polygonOffset.at(row + 1) - polygonOffset.at(row), {});
  for (std::size_t i = 0; i < current.polygons.size(); ++i) {
    const std::size_t at = polygonOffset.at(row) - polygonsBegin + i;
    PressurePolygon& polygon = current.polygons[i];
    assignAll(polygon.side1, side1Ints, io::kSideInts, at);
    assignAll(polygon.side2, side2Ints, io::kSideInts, at);
    assignAll(polygon, polygonInts, io::kPolygonInts, at);
    assignAll(polygon, polygonVectors, io::kPolygonVectors, at);
    assignAll(polygon, polygonReals, io::kPolygonReals, at);
    requireSide(polygon.side1);
    requireSide(polygon.side2);
    const std::size_t begin = firstVertex.at(at) - verticesBegin;
    for (std::size_t k = 0; k < static_cast<std::size_t>(polygon.numVertices); ++k) {
      polygon.vertices[k] = vec3At(vertex, begin + k);
      polygon.pressures[k] = vertexPressure.at(begin + k);
    }
  }
}

void RecordingReader::Impl::requireSide(const PressureSide& side) const {
  if (side.body < -1 || side.body >= static_cast<int>(names.size()) || side.soft < -1 ||
      side.soft >= static_cast<int>(softs.size()))
    file.reject("a pressure polygon of a body that does not exist");
}

RecordingReader::RecordingReader(const std::filesystem::path& path) {
  io::requireHdf5Memory();
  const io::QuietHdf5 quiet;
  impl_ = std::make_unique<Impl>(path);
}

RecordingReader::~RecordingReader() = default;
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader& RecordingReader::operator=(RecordingReader&&) noexcept = default;

std::int64_t RecordingReader::numFrames() const { return impl_->numFrames; }

int RecordingReader::numBodies() const { return static_cast<int>(impl_->names.size()); }

const std::string& RecordingReader::bodyName(int body) const { return impl_->names.at(body); }

std::vector<Real> RecordingReader::times() const {
  io::requireHdf5Memory();
  const io::QuietHdf5 quiet;
  Column<Real> column;
  column.open(impl_->file, "/frames/time", {});
  column.read(impl_->file, 0, static_cast<std::uint64_t>(impl_->numFrames));
  return {column.values().begin(), column.values().end()};
}

BodyType RecordingReader::bodyType(int body) const { return impl_->bodyTypes.at(body); }

std::span<const RecordedShape> RecordingReader::shapes() const { return impl_->shapes; }

std::span<const RecordedShape> RecordingReader::visuals() const { return impl_->visuals; }

int RecordingReader::parentOf(int body) const { return impl_->parents.at(body); }

std::span<const RecordedJoint> RecordingReader::joints() const { return impl_->joints; }

RecordedSeries RecordingReader::series() const {
  io::requireHdf5Memory();
  const io::QuietHdf5 quiet;
  const io::OpenRecording& file = impl_->file;
  const auto count = static_cast<std::uint64_t>(impl_->numFrames);
  const auto all = [&]<class T>(const std::string& path, T) {
    Column<T> column;
    column.open(file, path, {});
    column.read(file, 0, count);
    return std::vector<T>(column.values().begin(), column.values().end());
  };
  RecordedSeries out;
  out.time = all("/frames/time", Real{});
  out.step = all("/frames/step", std::uint64_t{});
  for (const std::uint32_t status : all("/solver/status", std::uint32_t{}))
    out.status.push_back(static_cast<StepStatus>(status));
  out.numContacts = all("/solver/contacts", std::int32_t{});
  out.iterations = all("/solver/iterations", std::int32_t{});
  out.numIslands = all("/solver/islands", std::int32_t{});
  out.residual = all("/solver/residual", Real{});
  out.maxDepth = all("/solver/max_depth", Real{});
  out.numPolygons.assign(count, 0);
  if (impl_->hasPressure) out.numPolygons = all("/solver/pressure_polygons", std::int32_t{});
  out.numEvents.assign(count, 0);
  if (impl_->numEvents.isOpen()) out.numEvents = all("/frames/events", std::int32_t{});
  out.energy.resize(count);
  for (const auto& field : io::kLedgerReals) {
    const std::vector<Real> row = all(std::string("/energy/") + field.name, Real{});
    for (std::size_t i = 0; i < row.size(); ++i) out.energy[i].*field.member = row[i];
  }
  return out;
}

std::vector<Mat3> RecordingReader::softStress(int soft) const {
  TANGERE_REQUIRE(soft >= 0 && soft < static_cast<int>(impl_->softs.size()), "no such soft body",
                  soft);
  const RecordedSoftBody& body = impl_->softs[static_cast<std::size_t>(soft)];
  if (!body.elasticity || impl_->current.softVertices.empty()) return {};
  impl_->elastic.resize(impl_->softs.size());
  std::optional<model::SoftMesh>& mesh = impl_->elastic[static_cast<std::size_t>(soft)];
  if (!mesh) {
    constexpr Real kAnyDensity = 1;
    mesh = model::makeSoftMesh(TetMesh(body.rest, body.tets), Transform{}, kAnyDensity,
                               *body.elasticity);
  }
  std::vector<Mat3> out(mesh->tets.size());
  dynamics::tetStresses(*mesh, impl_->current.softVertices.data() + body.firstVertex, nullptr,
                        out.data());
  return out;
}

std::span<const RecordedSoftBody> RecordingReader::softBodies() const { return impl_->softs; }

std::span<const RecordedSensor> RecordingReader::sensors() const { return impl_->sensors; }

bool RecordingReader::hasPressure() const { return impl_->hasPressure; }
std::uint64_t RecordingReader::modelHash() const { return impl_->modelHash; }

const RecordedFrame& RecordingReader::frame(std::int64_t index) {
  TANGERE_REQUIRE(index >= 0 && index < impl_->numFrames, "no such frame", index, impl_->numFrames);
  if (index < impl_->blockBegin || index >= impl_->blockEnd) {
    io::requireHdf5Memory();
    const io::QuietHdf5 quiet;
    impl_->readBlock(index / impl_->framesPerBlock * impl_->framesPerBlock);
  }
  impl_->fillCurrent(static_cast<std::size_t>(index - impl_->blockBegin));
  return impl_->current;
}

RecordFrame frameOf(const Simulator& simulator, std::vector<BodyState>* bodies) {
  bodies->clear();
  for (int i = 0; i < simulator.model().numBodies(); ++i) bodies->push_back(simulator.body(i));
  const State& state = simulator.state();
  return {.time = state.time,
          .step = state.step,
          .bodies = *bodies,
          .contacts = simulator.contacts(),
          .report = simulator.report(),
          .energy = simulator.energy(),
          .softVertices = state.softPosition,
          .polygons = simulator.pressureContacts(),
          .sensors = simulator.sensors(),
          .isAsleep = state.isAsleep,
          .numEvents = static_cast<int>(simulator.events().size())};
}

RecordFrame frameOf(const RecordedFrame& frame) {
  return {.time = frame.time,
          .step = frame.step,
          .stateHash = frame.stateHash,
          .bodies = frame.bodies,
          .contacts = frame.contacts,
          .report = frame.report,
          .energy = frame.energy,
          .softVertices = frame.softVertices,
          .polygons = frame.polygons,
          .sensors = frame.sensors,
          .isAsleep = frame.isAsleep,
          .numEvents = frame.numEvents};
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
