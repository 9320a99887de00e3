// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "contact_rows.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "recording_columns.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

#include <tangere/mcap.hpp>
#include <tangere/recording.hpp>

#include <nanobind/stl/filesystem.h>

#include <optional>

namespace tangere::python {

namespace {

/// Writes what one environment does.
class Recorder {
 public:
  Recorder(const std::filesystem::path& path, nb::object simulator,
           const Argument<int>& environment, int framesPerChunk, int compression)
      : simulator_(std::move(simulator)),
        environment_(environmentsOf(simulator_).checked(environment.as("env"))),
        writer_(std::in_place, path, environmentsOf(simulator_).at(environment_).model(),
                RecordingOptions{.framesPerChunk = framesPerChunk, .compression = compression}) {}

  void append() {
    const ExclusiveUse use(exclusive_);
    Environments& environments = environmentsOf(simulator_);
    const Environments::Use useOfSimulator(environments);
    environments.push();
    const Simulator& simulator = environments.at(environment_);
    RecordFrame frame = frameOf(simulator, &bodies_);
    frame.stateHash = simulator.state().hash();
    writer().append(frame);
  }
  void flush() {
    const ExclusiveUse use(exclusive_);
    RecordingWriter& open = writer();
    const nb::gil_scoped_release release;
    open.flush();
  }
  void close() {
    const ExclusiveUse use(exclusive_);
    if (!writer_) return;
    num_frames_ = writer_->numFrames();
    const nb::gil_scoped_release release;
    writer_->close();
    writer_.reset();
  }
  [[nodiscard]] std::uint64_t numFrames() {
    const ExclusiveUse use(exclusive_);
    return writer_ ? writer_->numFrames() : num_frames_;
  }

 private:
  RecordingWriter& writer() {
    if (!writer_) throw std::runtime_error("the recording is closed");
    return *writer_;
  }

  nb::object simulator_;
  int environment_;
  Exclusive exclusive_{"Recorder"};
  std::optional<RecordingWriter> writer_;
  std::uint64_t num_frames_ = 0;
  std::vector<BodyState> bodies_;
};

/// A recording that one thread at a time reads.
class Recording {
 public:
  explicit Recording(const std::filesystem::path& path) : reader_(path) {}

  template <class Function>
  auto use(const Function& function) {
    const ExclusiveUse use(exclusive_);
    return function(reader_);
  }
  /// What never changes, and any thread may look at.
  [[nodiscard]] const RecordingReader& reader() const { return reader_; }

 private:
  Exclusive exclusive_{"Recording"};
  RecordingReader reader_;
};

std::vector<std::string> bodyNamesOf(const Recording& self) {
  std::vector<std::string> names;
  for (int i = 0; i < self.reader().numBodies(); ++i) names.push_back(self.reader().bodyName(i));
  return names;
}

template <class Part>
std::vector<std::string> namesIn(std::span<const Part> parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(part.name);
  return names;
}

template <class Part>
int findIn(std::span<const Part> parts, const char* what, const std::string& name) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].name == name) return static_cast<int>(i);
  throw InvalidInput("no " + std::string(what) + " is called '" + name + "'" +
                     nearNames(name, namesIn(parts)));
}

const RecordedSoftBody& softIn(const Recording& self, const std::string& name) {
  const auto softs = self.reader().softBodies();
  return softs[static_cast<std::size_t>(findIn(softs, "soft body", name))];
}

std::int64_t frameIndex(const RecordingReader& reader, const Argument<std::int64_t>& frame) {
  const std::int64_t index = frame.as("frame"), count = reader.numFrames();
  const std::int64_t found = index < 0 ? index + count : index;
  if (found >= 0 && found < count) return found;
  throw nb::index_error(("there is no frame " + std::to_string(index) + ": the recording has " +
                         std::to_string(count))
                            .c_str());
}

void bindParts(nb::module_& m) {
  bindResult<RecordedJoint>(m, "RecordedJoint", "A joint of a recording; not those of free bodies.",
                            field("name", &RecordedJoint::name, "its name"),
                            field("type", &RecordedJoint::type, "'revolute' and so on"),
                            field("body", &RecordedJoint::body, "index of the body it moves"),
                            field("position", &RecordedJoint::position, "in the frame of the body"),
                            field("axis", &RecordedJoint::axis, "in the frame of the body"));
  nb::class_<RecordedShape>(
      m, "RecordedShape",
      "A shape of a recording, as it is drawn; parts of a compound are shapes "
      "of their own.")
      .def_ro("type", &RecordedShape::type, "'sphere', 'box' and so on.")
      .def_ro("shape", &RecordedShape::shape, "Its index, as contacts name it; -1: a visual.")
      .def_ro("body", &RecordedShape::body, "Index of its body.")
      .def_prop_ro(
          "pose", [](const RecordedShape& self) { return self.pose; }, "In its body, 4 x 4.")
      .def_prop_ro(
          "size", [](const RecordedShape& self) { return self.size; },
          "Radius; half sizes; radius and half length or height; semi-axes [m].")
      .def_prop_ro(
          "vertices",
          [](const RecordedShape& self) { return makeArray(std::span<const Vec3>(self.vertices)); },
          "Of hulls, meshes, terrains and point clouds, (n, 3) [m].")
      .def_prop_ro(
          "triangles",
          [](const RecordedShape& self) {
            return makeIndexArray(std::span<const Triangle>(self.triangles));
          },
          "Of vertices, (n, 3).")
      .def_ro("color", &RecordedShape::color, "Of a visual: red, green, blue, opacity.");
}

void bindModelOf(nb::class_<Recording>& cls) {
  cls.def_prop_ro("body_names", &bodyNamesOf, "Names of the bodies.")
      .def_prop_ro(
          "body_types",
          [](const Recording& self) {
            std::vector<BodyType> types;
            for (int i = 0; i < self.reader().numBodies(); ++i)
              types.push_back(self.reader().bodyType(i));
            return types;
          },
          nb::sig("def body_types(self) -> list[tangere._core.BodyType]"), "What moves each body.")
      .def_prop_ro(
          "body_parents",
          [](const Recording& self) {
            std::vector<int> parents;
            for (int i = 0; i < self.reader().numBodies(); ++i)
              parents.push_back(self.reader().parentOf(i));
            return parents;
          },
          "Index of the body that each is jointed or welded to; -1: the world.")
      .def_prop_ro(
          "soft_body_names",
          [](const Recording& self) { return namesIn(self.reader().softBodies()); },
          "Names of the soft bodies.")
      .def_prop_ro(
          "sensor_names", [](const Recording& self) { return namesIn(self.reader().sensors()); },
          "Names of the sensors.")
      .def(
          "sensor_slice",
          [](const Recording& self, const std::string& name) {
            const auto sensors = self.reader().sensors();
            const RecordedSensor& sensor =
                sensors[static_cast<std::size_t>(findIn(sensors, "sensor", name))];
            return nb::module_::import_("builtins")
                .attr("slice")(sensor.firstValue, sensor.firstValue + sensor.numValues);
          },
          nb::arg("name"), nb::sig("def sensor_slice(self, name: str) -> slice"),
          "Where its readings are: recording.read()['sensors'][:, recording.sensor_slice('imu')].")
      .def_prop_ro(
          "joints",
          [](const Recording& self) {
            const auto joints = self.reader().joints();
            return std::vector<RecordedJoint>(joints.begin(), joints.end());
          },
          "The joints, but for those of free bodies.")
      .def_prop_ro(
          "shapes",
          [](const Recording& self) {
            const auto shapes = self.reader().shapes();
            return std::vector<RecordedShape>(shapes.begin(), shapes.end());
          },
          "What collides.")
      .def_prop_ro(
          "visuals",
          [](const Recording& self) {
            const auto visuals = self.reader().visuals();
            return std::vector<RecordedShape>(visuals.begin(), visuals.end());
          },
          "How bodies look, where that is not how they collide.")
      .def_prop_ro(
          "model_hash", [](const Recording& self) { return self.reader().modelHash(); },
          "Hash of the model.");
}

void bindSoftsOf(nb::class_<Recording>& cls) {
  cls.def(
         "soft_slice",
         [](const Recording& self, const std::string& name) {
           const RecordedSoftBody& soft = softIn(self, name);
           return nb::module_::import_("builtins")
               .attr("slice")(soft.firstVertex, soft.firstVertex + soft.numVertices);
         },
         nb::arg("name"), nb::sig("def soft_slice(self, name: str) -> slice"),
         "Where the vertices of a soft body are: "
         "recording.read()['soft_vertices'][:, recording.soft_slice('ball')].")
      .def(
          "soft_surface",
          [](const Recording& self, const std::string& name) {
            return makeIndexArray(std::span<const Triangle>(softIn(self, name).surface));
          },
          nb::arg("name"), "Triangles of the surface of a soft body, of its own vertices, (n, 3).")
      .def(
          "soft_tets",
          [](const Recording& self, const std::string& name) {
            return makeIndexArray(std::span<const Tet>(softIn(self, name).tets));
          },
          nb::arg("name"), "Tetrahedra of a soft body, of its own vertices, (n, 4).")
      .def(
          "soft_stress",
          [](Recording& self, const std::string& name, const Argument<std::int64_t>& frame) {
            return self.use([&](RecordingReader& reader) {
              const int index = findIn(reader.softBodies(), "soft body", name);
              (void)reader.frame(frameIndex(reader, frame));
              std::vector<Real> numbers;
              for (const Mat3& stress : reader.softStress(index))
                for (int k = 0; k < 9; ++k) numbers.push_back(stress(k / 3, k % 3));
              const std::size_t count = numbers.size() / 9;
              return makeArray<Real>(std::move(numbers), {count, 3, 3});
            });
          },
          nb::arg("name"), nb::arg("frame"),
          "Cauchy stress of each tetrahedron in a frame, (n, 3, 3) [Pa]; empty for recordings of "
          "earlier versions.");
}

std::int64_t exportFrames(Recording& self, const std::filesystem::path& path, Real rate,
                          bool isCompressed) {
  return self.use([&](RecordingReader& reader) {
    const nb::gil_scoped_release release;
    const auto interrupt = [](std::int64_t, std::int64_t) {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    return exportMcap(reader, path, {.rate = rate, .isCompressed = isCompressed}, interrupt)
        .numFrames;
  });
}

void bindFrames(nb::class_<Recording>& cls) {
  cls.def("__len__", [](const Recording& self) { return self.reader().numFrames(); })
      .def_prop_ro(
          "times",
          [](Recording& self) {
            std::vector<Real> times =
                self.use([](RecordingReader& reader) { return reader.times(); });
            const std::size_t count = times.size();
            return makeArray<Real, nb::ndim<1>>(std::move(times), {count});
          },
          "Of all frames, without reading them [s].")
      .def(
          "read",
          [](Recording& self, std::int64_t start, std::optional<std::int64_t> stop,
             std::int64_t stride) {
            return self.use(
                [&](RecordingReader& reader) { return readColumns(reader, start, stop, stride); });
          },
          nb::arg("start") = 0, nb::arg("stop") = nb::none(), nb::arg("stride") = 1,
          nb::sig("def read(self, start: int = 0, stop: int | None = None, stride: int = 1) -> "
                  "dict[str, numpy.typing.NDArray[typing.Any]]"),
          "Frames as arrays with the frame axis first, chosen as by a slice: time, step, "
          "state_hash; position, quaternion, linear_velocity, angular_velocity, is_asleep "
          "(frames, bodies, ...); soft_vertices, sensors; num_contacts, num_pressure_polygons, "
          "num_islands, num_events, iterations, linear_iterations, status, num_inverted, "
          "max_depth, residual, error_bound; and energy_kinetic, energy_potential and so on.")
      .def(
          "series",
          [](Recording& self) {
            return self.use([](RecordingReader& reader) { return readSeries(reader); });
          },
          nb::sig("def series(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
          "One number of each frame, as in read(), for plots over the whole time: it reads no "
          "frame, and is quick also where there are many.")
      .def(
          "contacts",
          [](Recording& self, const Argument<std::int64_t>& frame) {
            return self.use([&](RecordingReader& reader) {
              ContactRows rows;
              rows.add(0, reader.frame(frameIndex(reader, frame)).contacts, nullptr);
              return rows.array(bodyNamesOf(self));
            });
          },
          nb::arg("frame"),
          nb::sig("def contacts(self, frame: int) -> numpy.typing.NDArray[numpy.void]"),
          "Contact points of a frame, as Simulator.contacts(); patch is -1. A negative frame "
          "counts from the end.")
      .def(
          "pressure_contacts",
          [](Recording& self, const Argument<std::int64_t>& frame) {
            return self.use([&](RecordingReader& reader) {
              PolygonRows rows;
              rows.add(0, reader.frame(frameIndex(reader, frame)).polygons);
              return rows.array(bodyNamesOf(self), namesIn(reader.softBodies()));
            });
          },
          nb::arg("frame"),
          nb::sig("def pressure_contacts(self, frame: int) -> numpy.typing.NDArray[numpy.void]"),
          "Polygons of a frame, as Simulator.pressure_contacts().")
      .def("export_mcap", &exportFrames, nb::arg("path"), nb::arg("rate") = 0.0,
           nb::arg("compressed") = true,
           "Writes an MCAP file that Foxglove opens, with `rate` frames for each simulated second "
           "(0: all), and returns how many frames it has.")
      .def("__repr__", [](const Recording& self) {
        return nb::str("<tangere.Recording: {} frames of {} bodies>")
            .attr("format")(self.reader().numFrames(), self.reader().numBodies());
      });
}

void bindRecorder(nb::module_& m) {
  nb::class_<Recorder>(
      m, "Recorder",
      "Records one environment of a simulator, a frame at each append(). The file "
      "is NAME.partial until it is closed.\n\n"
      ">>> import tangere, tempfile, os\n"
      ">>> sim = tangere.Simulator(tangere.load(tangere.scenes.path('stack.toml')))\n"
      ">>> path = os.path.join(tempfile.mkdtemp(), 'stack.h5')\n"
      ">>> with tangere.Recorder(path, sim) as recorder:\n"
      "...     for _ in range(10):\n"
      "...         sim.step()\n"
      "...         recorder.append()\n"
      ">>> len(tangere.Recording(path))\n"
      "10\n")
      .def(nb::init<const std::filesystem::path&, nb::object, const Argument<int>&, int, int>(),
           nb::arg("path"), nb::arg("simulator").none(), nb::arg("env") = 0,
           nb::arg("frames_per_chunk") = 64, nb::arg("compression") = 1,
           nb::sig("def __init__(self, path: str | os.PathLike, simulator: tangere.Simulator, env: "
                   "int = 0, frames_per_chunk: int = 64, compression: int = 1) -> None"))
      .def("append", &Recorder::append, "Writes a frame: the environment as it is now.")
      .def("flush", &Recorder::flush, "Everything appended is in the file when it returns.")
      .def("close", &Recorder::close, "Writes what is left and gives the file its name.")
      .def_prop_ro("num_frames", &Recorder::numFrames, "Frames appended so far.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> typing.Self"))
      .def(
          "__exit__", [](Recorder& self, nb::handle, nb::handle, nb::handle) { self.close(); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
}

nb::object differenceOf(Recording& one, Recording& two, Real tolerance, bool onlyCommonSteps) {
  if (&one == &two) return nb::none();
  const std::optional<RecordingDifference> found = one.use([&](RecordingReader& reader1) {
    return two.use([&](RecordingReader& reader2) {
      return firstDifference(reader1, reader2,
                             {.tolerance = tolerance, .onlyCommonSteps = onlyCommonSteps});
    });
  });
  if (!found) return nb::none();
  nb::dict fields;
  fields["step"] = found->step;
  fields["kind"] = found->kind;
  fields["name"] = found->name;
  fields["quantity"] = found->quantity;
  fields["value1"] = found->value1;
  fields["value2"] = found->value2;
  return fields;
}

}  // namespace

void bindRecording(nb::module_& m) {
  bindParts(m);
  nb::class_<Recording> cls(
      m, "Recording",
      "A recording of `tangere run --record`, or of a Recorder; finished or .partial. Arrays are "
      "copies. One thread at a time reads it: a second one gets a RuntimeError.");
  cls.def(nb::init<const std::filesystem::path&>(), nb::arg("path"));
  bindModelOf(cls);
  bindSoftsOf(cls);
  bindFrames(cls);
  bindRecorder(m);
  m.def("first_difference", &differenceOf, nb::arg("recording1"), nb::arg("recording2"),
        nb::arg("tolerance") = 0.0, nb::arg("only_common_steps") = false,
        nb::sig("def first_difference(recording1: Recording, recording2: Recording, tolerance: "
                "float = 0.0, only_common_steps: bool = False) -> dict[str, typing.Any] | None"),
        "The first step, and there the first body, contact or number, that is not the same, as a "
        "dictionary of step, kind, name, quantity, value1 and value2; None where the recordings "
        "are equal. With a tolerance, only the motion is compared.");
}

}  // namespace tangere::python
