// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "contact_rows.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "struct_binding.hpp"

#include <tangere/recording.hpp>

#include <nanobind/stl/filesystem.h>

#include <optional>

namespace tangere::python {

namespace {

/// Writes what one environment does.
class Recorder {
 public:
  Recorder(const std::filesystem::path& path, nb::object simulator, int environment,
           int framesPerChunk, int compression)
      : simulator_(std::move(simulator)),
        environment_(environments().checked(environment)),
        writer_(std::in_place, path, environments().at(environment_).model(),
                RecordingOptions{.framesPerChunk = framesPerChunk, .compression = compression}) {}

  void append() {
    if (!writer_) throw std::runtime_error("the recording is closed");
    const Environments::Use use(environments());
    environments().push();
    const Simulator& simulator = environments().at(environment_);
    const State& state = simulator.state();
    bodies_.clear();
    for (int i = 0; i < simulator.model().numBodies(); ++i) bodies_.push_back(simulator.body(i));
    writer_->append({.time = state.time,
                     .step = state.step,
                     .stateHash = state.hash(),
                     .bodies = bodies_,
                     .contacts = simulator.contacts(),
                     .report = simulator.report(),
                     .energy = simulator.energy(),
                     .softVertices = state.softPosition,
                     .polygons = simulator.pressureContacts(),
                     .sensors = simulator.sensors()});
  }
  void close() {
    if (!writer_) return;
    const nb::gil_scoped_release release;
    writer_->close();
    writer_.reset();
  }
  [[nodiscard]] std::uint64_t numFrames() const { return writer_ ? writer_->numFrames() : 0; }

 private:
  [[nodiscard]] Environments& environments() { return nb::cast<Environments&>(simulator_); }

  nb::object simulator_;
  int environment_;
  std::optional<RecordingWriter> writer_;
  std::vector<BodyState> bodies_;
};

std::vector<std::string> bodyNamesOf(const RecordingReader& self) {
  std::vector<std::string> names;
  for (int i = 0; i < self.numBodies(); ++i) names.push_back(self.bodyName(i));
  return names;
}

std::vector<std::string> softNamesOf(const RecordingReader& self) {
  std::vector<std::string> names;
  for (const RecordedSoftBody& soft : self.softBodies()) names.push_back(soft.name);
  return names;
}

std::int64_t frameIndex(const RecordingReader& self, std::int64_t index) {
  const std::int64_t count = self.numFrames();
  const std::int64_t found = index < 0 ? index + count : index;
  if (found >= 0 && found < count) return found;
  throw nb::index_error(("there is no frame " + std::to_string(index) + ": the recording has " +
                         std::to_string(count))
                            .c_str());
}

/// Numbers of all frames, one column after another.
struct Columns {
  std::vector<Real> time, position, quaternion, linear, angular, sensors, softVertices;
  std::vector<std::uint64_t> step, stateHash;
  std::vector<std::int64_t> numContacts, iterations, status;
  std::vector<Real> maxDepth, residual;
  std::vector<std::vector<Real>> energy;
};

void add(const Vec3& v, std::vector<Real>* out) { out->insert(out->end(), {v.x, v.y, v.z}); }

void addFrame(const RecordedFrame& frame, Columns* out) {
  out->time.push_back(frame.time);
  out->step.push_back(frame.step);
  out->stateHash.push_back(frame.stateHash);
  for (const BodyState& body : frame.bodies) {
    const Quat& q = body.orientation;
    add(body.pose.translation, &out->position);
    out->quaternion.insert(out->quaternion.end(), {q.w, q.x, q.y, q.z});
    add(body.linearVelocity, &out->linear);
    add(body.angularVelocity, &out->angular);
  }
  for (const Vec3& vertex : frame.softVertices) add(vertex, &out->softVertices);
  out->sensors.insert(out->sensors.end(), frame.sensors.begin(), frame.sensors.end());
  out->numContacts.push_back(static_cast<std::int64_t>(frame.contacts.size()));
  out->iterations.push_back(frame.report.iterations);
  out->status.push_back(static_cast<std::int64_t>(frame.report.status));
  out->maxDepth.push_back(frame.report.maxDepth);
  out->residual.push_back(frame.report.residual);
  const std::span<const LedgerRow> rows = energyLedgerRows();
  out->energy.resize(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    out->energy[k].push_back(frame.energy.*(rows[k].value));
}

nb::dict readColumns(RecordingReader& self, std::int64_t start, std::optional<std::int64_t> stop,
                     std::int64_t stride) {
  if (stride < 1) throw InvalidInput("stride must be at least 1");
  const std::int64_t last = std::min(stop.value_or(self.numFrames()), self.numFrames());
  Columns columns;
  {
    const nb::gil_scoped_release release;
    for (std::int64_t i = std::max<std::int64_t>(start, 0); i < last; i += stride)
      addFrame(self.frame(i), &columns);
  }
  const std::size_t frames = columns.time.size();
  const auto bodies = static_cast<std::size_t>(self.numBodies());
  nb::dict out;
  out["time"] = makeArray<Real>(std::move(columns.time), {frames});
  out["step"] = makeArray<std::uint64_t>(std::move(columns.step), {frames});
  out["state_hash"] = makeArray<std::uint64_t>(std::move(columns.stateHash), {frames});
  out["position"] = makeArray<Real>(std::move(columns.position), {frames, bodies, 3});
  out["quaternion"] = makeArray<Real>(std::move(columns.quaternion), {frames, bodies, 4});
  out["linear_velocity"] = makeArray<Real>(std::move(columns.linear), {frames, bodies, 3});
  out["angular_velocity"] = makeArray<Real>(std::move(columns.angular), {frames, bodies, 3});
  const std::size_t perFrame = frames == 0 ? 1 : frames;
  const std::size_t vertices = columns.softVertices.size() / 3 / perFrame;
  const std::size_t readings = columns.sensors.size() / perFrame;
  out["soft_vertices"] = makeArray<Real>(std::move(columns.softVertices), {frames, vertices, 3});
  out["sensors"] = makeArray<Real>(std::move(columns.sensors), {frames, readings});
  out["num_contacts"] = makeArray<std::int64_t>(std::move(columns.numContacts), {frames});
  out["iterations"] = makeArray<std::int64_t>(std::move(columns.iterations), {frames});
  out["status"] = makeArray<std::int64_t>(std::move(columns.status), {frames});
  out["max_depth"] = makeArray<Real>(std::move(columns.maxDepth), {frames});
  out["residual"] = makeArray<Real>(std::move(columns.residual), {frames});
  const std::span<const LedgerRow> rows = energyLedgerRows();
  for (std::size_t k = 0; k < columns.energy.size(); ++k)
    out[(std::string("energy_") + rows[k].name).c_str()] =
        makeArray<Real>(std::move(columns.energy[k]), {frames});
  return out;
}

void bindReader(nb::module_& m) {
  nb::class_<RecordingReader>(
      m, "Recording",
      "A recording of `tangere run --record`, of the command line or of a Recorder; finished or "
      ".partial. Not for two threads at a time.")
      .def(nb::init<const std::filesystem::path&>(), nb::arg("path"))
      .def("__len__", [](const RecordingReader& self) { return self.numFrames(); })
      .def_prop_ro("body_names", &bodyNamesOf, "Names of the bodies.")
      .def_prop_ro("soft_body_names", &softNamesOf, "Names of the soft bodies.")
      .def_prop_ro(
          "sensor_names",
          [](const RecordingReader& self) {
            std::vector<std::string> names;
            for (const RecordedSensor& sensor : self.sensors()) names.push_back(sensor.name);
            return names;
          },
          "Names of the sensors.")
      .def_prop_ro("model_hash", &RecordingReader::modelHash, "Hash of the model.")
      .def_prop_ro(
          "times",
          [](const RecordingReader& self) {
            std::vector<Real> times = self.times();
            const std::size_t count = times.size();
            return makeArray<Real, nb::ndim<1>>(std::move(times), {count});
          },
          "Of all frames, without reading them [s].")
      .def("read", &readColumns, nb::arg("start") = 0, nb::arg("stop") = nb::none(),
           nb::arg("stride") = 1,
           nb::sig("def read(self, start: int = 0, stop: int | None = None, stride: int = 1) -> "
                   "dict[str, numpy.typing.NDArray[typing.Any]]"),
           "Frames as arrays with the frame axis first: time, step, state_hash, position, "
           "quaternion, linear_velocity, angular_velocity (frames, bodies, ...), soft_vertices, "
           "sensors, num_contacts, iterations, status, max_depth, residual, and energy_kinetic, "
           "energy_potential and so on.")
      .def(
          "contacts",
          [](RecordingReader& self, std::int64_t frame) {
            ContactRows rows;
            rows.add(0, self.frame(frameIndex(self, frame)).contacts, nullptr);
            return rows.array(bodyNamesOf(self));
          },
          nb::arg("frame"),
          nb::sig("def contacts(self, frame: int) -> numpy.typing.NDArray[numpy.void]"),
          "Contact points of a frame, as Simulator.contacts(); patch is -1.")
      .def(
          "pressure_contacts",
          [](RecordingReader& self, std::int64_t frame) {
            PolygonRows rows;
            rows.add(0, self.frame(frameIndex(self, frame)).polygons);
            return rows.array(bodyNamesOf(self), softNamesOf(self));
          },
          nb::arg("frame"),
          nb::sig("def pressure_contacts(self, frame: int) -> numpy.typing.NDArray[numpy.void]"),
          "Polygons of a frame, as Simulator.pressure_contacts().")
      .def(
          "soft_surface",
          [](const RecordingReader& self, const std::string& name) {
            for (const RecordedSoftBody& soft : self.softBodies())
              if (soft.name == name)
                return std::make_tuple(soft.firstVertex,
                                       makeIndexArray(std::span<const Triangle>(soft.surface)));
            throw InvalidInput("no soft body is called '" + name + "'" +
                               nearNames(name, softNamesOf(self)));
          },
          nb::arg("name"),
          "Where the vertices of a soft body start, and the triangles of its surface.")
      .def("__repr__", [](const RecordingReader& self) {
        return nb::str("<tangere.Recording: {} frames of {} bodies>")
            .attr("format")(self.numFrames(), self.numBodies());
      });
}

}  // namespace

void bindRecording(nb::module_& m) {
  bindReader(m);
  nb::class_<Recorder>(m, "Recorder",
                       "Records one environment of a simulator, a frame at each append(). The file "
                       "is NAME.partial until it is closed.")
      .def(nb::init<const std::filesystem::path&, nb::object, int, int, int>(), nb::arg("path"),
           nb::arg("simulator"), nb::arg("env") = 0, nb::arg("frames_per_chunk") = 64,
           nb::arg("compression") = 1,
           nb::sig("def __init__(self, path: str | os.PathLike, simulator: tangere.Simulator, env: "
                   "int = 0, frames_per_chunk: int = 64, compression: int = 1) -> None"))
      .def("append", &Recorder::append, "Writes a frame: the environment as it is now.")
      .def("close", &Recorder::close, "Writes what is left and gives the file its name.")
      .def_prop_ro("num_frames", &Recorder::numFrames, "Frames appended so far.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> typing.Self"))
      .def(
          "__exit__", [](Recorder& self, nb::handle, nb::handle, nb::handle) { self.close(); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
  m.def(
      "first_difference",
      [](RecordingReader& one, RecordingReader& two, Real tolerance, bool onlyCommonSteps) {
        std::optional<RecordingDifference> found =
            firstDifference(one, two, {.tolerance = tolerance, .onlyCommonSteps = onlyCommonSteps});
        nb::object out = nb::none();
        if (found) {
          nb::dict fields;
          fields["step"] = found->step;
          fields["kind"] = found->kind;
          fields["name"] = found->name;
          fields["quantity"] = found->quantity;
          fields["value1"] = found->value1;
          fields["value2"] = found->value2;
          out = fields;
        }
        return out;
      },
      nb::arg("recording1"), nb::arg("recording2"), nb::arg("tolerance") = 0.0,
      nb::arg("only_common_steps") = false,
      nb::sig("def first_difference(recording1: Recording, recording2: Recording, tolerance: float "
              "= 0.0, only_common_steps: bool = False) -> dict[str, typing.Any] | None"),
      "The first step, and there the first body, contact or number, that is not the same; None "
      "where the recordings are equal.");
}

}  // namespace tangere::python
