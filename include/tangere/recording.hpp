// SPDX-License-Identifier: Apache-2.0
//
// Recordings: what happened in a run, step by step, in one HDF5 file (docs/recording.md says what
// is in it). A recording is written to NAME.partial and gets its name when it is closed. Whatever
// ends the program before that, NAME.partial can be read up to the last chunk of frames.
//
// SI units, quaternions w x y z, normals from body 2 to body 1, forces on body 1.
#pragma once

#include <tangere/simulator.hpp>
#include <tangere/tet_mesh.hpp>
#include <tangere/visual.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tangere {

/// One step as it is recorded; everything it refers to must live until append() returns.
struct RecordFrame {
  Real time = 0;
  std::uint64_t step = 0;
  std::uint64_t stateHash = 0;
  std::span<const BodyState> bodies;  ///< one for each body of the model
  std::span<const ContactForce> contacts;
  const StepReport& report;
  const EnergyLedger& energy;
  std::span<const Vec3> softVertices{};  ///< positions; of all soft bodies, in order of the model
  std::span<const PressurePolygon> polygons{};
  std::span<const Real> sensors{};           ///< all readings, in order of the model
  std::span<const std::uint8_t> isAsleep{};  ///< of each body; empty: all are awake
  int numEvents = 0;                         ///< of the event solver, within the step
};

struct RecordingOptions {
  /// Frames are written in chunks, fewer at a time for models so large that a chunk would be more
  /// than 4 MB. A killed program loses what it was collecting and what it was writing: a chunk
  /// each, or up to 16 of a run that fills them within a tenth of a second.
  int framesPerChunk = 64;
  int compression = 1;  ///< deflate, 0 to 9
  /// How bodies look, for pictures; those of bodies that the model does not have are left out, and
  /// those whose mesh is still a file (readVisuals() reads it).
  std::span<const VisualShape> visuals{};
};

/// Writes a recording. Not for two threads at a time.
class RecordingWriter {
 public:
  /// Opens PATH.partial. Throws FileError when it cannot be written or another run is writing it,
  /// InvalidInput for a model without any body, rigid or soft, or options out of range.
  RecordingWriter(const std::filesystem::path& path, const Model& model,
                  const RecordingOptions& options = {});
  /// Without close(): leaves PATH.partial, complete up to the last frame.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// Throws InvalidInput, and records nothing of the frame, when a number is not finite or the
  /// bodies, vertices or readings are not those of the model; FileError when an earlier chunk could
  /// not be written.
  void append(const RecordFrame& frame);
  /// Everything appended is in the file when it returns. Throws FileError.
  void flush();
  /// Frames appended so far.
  [[nodiscard]] std::uint64_t numFrames() const;
  /// Writes what is left, to the disk, and gives the file its name. Throws FileError.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "dynamic", "fixed" or "kinematic": what recordings call it.
[[nodiscard]] const char* bodyTypeName(BodyType type);

/// One step as it was recorded.
struct RecordedFrame {
  Real time = 0;
  std::uint64_t step = 0;
  std::uint64_t stateHash = 0;
  std::vector<BodyState> bodies;
  std::vector<ContactForce> contacts;
  StepReport report{};
  EnergyLedger energy{};
  std::vector<Vec3> softVertices;
  std::vector<PressurePolygon> polygons;
  std::vector<Real> sensors;
  std::vector<std::uint8_t> isAsleep;  ///< empty in recordings of earlier versions
  int numEvents = 0;
};

/// What would be recorded of a simulator now. `bodies` is memory for what the frame refers to; it
/// is good until the next step. The hash of the state is left out: it takes time.
[[nodiscard]] RecordFrame frameOf(const Simulator& simulator, std::vector<BodyState>* bodies);
/// A recorded frame as one to be recorded or shown; refers to it.
[[nodiscard]] RecordFrame frameOf(const RecordedFrame& frame);

/// A soft body of a recording.
struct RecordedSoftBody {
  std::string name;
  int firstVertex = 0, numVertices = 0;    ///< in RecordedFrame::softVertices
  std::vector<Tet> tets;                   ///< of its own vertices, from 0
  std::vector<Triangle> surface;           ///< likewise; counter-clockwise from outside
  std::vector<Vec3> rest{};                ///< where the vertices are without stress
  std::optional<Elasticity> elasticity{};  ///< none in recordings of earlier versions
};

/// A joint of a recording; those of free bodies are left out.
struct RecordedJoint {
  std::string name;
  std::string type;  ///< "revolute" and so on
  int body = 0;
  Vec3 position{}, axis{};  ///< in the frame of the body
};

/// A shape of a recording, as it is drawn; parts of a compound are shapes of their own.
struct RecordedShape {
  std::string type;  ///< "sphere", "box" and so on
  int shape = -1;    ///< as in ContactForce
  int body = 0;
  Transform pose{};  ///< X_BS
  Vec3 size{};       ///< radius; half sizes; radius and half length or height; semi-axes [m]
  std::vector<Vec3> vertices;  ///< of hulls, meshes, terrains and point clouds
  std::vector<Triangle> triangles;
  std::array<Real, 4> color{};  ///< of a visual: red, green, blue, opacity
};

/// The shapes of a model, and how its bodies look, as a recording has them; see
/// RecordingOptions::visuals.
[[nodiscard]] std::vector<RecordedShape> recordedShapes(const Model& model);
[[nodiscard]] std::vector<RecordedShape> recordedVisuals(const Model& model,
                                                         std::span<const VisualShape> visuals);

/// A sensor of a recording.
struct RecordedSensor {
  std::string name;
  int firstValue = 0, numValues = 0;  ///< in RecordedFrame::sensors
};

/// One number of each frame.
struct RecordedSeries {
  std::vector<Real> time;
  std::vector<std::uint64_t> step;
  std::vector<StepStatus> status;
  std::vector<int> numContacts, numPolygons, iterations, numIslands, numEvents;
  std::vector<Real> residual, maxDepth;
  std::vector<EnergyLedger> energy;
};

/// Reads a recording, finished or .partial. Not for two threads at a time.
class RecordingReader {
 public:
  /// Throws FileError when the file cannot be opened, InvalidInput when it is no recording.
  explicit RecordingReader(const std::filesystem::path& path);
  ~RecordingReader();
  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;

  [[nodiscard]] std::int64_t numFrames() const;
  [[nodiscard]] int numBodies() const;
  [[nodiscard]] const std::string& bodyName(int body) const;
  [[nodiscard]] BodyType bodyType(int body) const;
  [[nodiscard]] std::span<const RecordedShape> shapes() const;
  /// How bodies look where that is not how they collide; of the world, with body -1, too.
  [[nodiscard]] std::span<const RecordedShape> visuals() const;
  /// The body it is jointed or welded to; -1: the world, or a recording of an earlier version.
  [[nodiscard]] int parentOf(int body) const;
  [[nodiscard]] std::span<const RecordedJoint> joints() const;
  /// Recordings of earlier versions have none.
  [[nodiscard]] std::span<const RecordedSoftBody> softBodies() const;
  [[nodiscard]] std::span<const RecordedSensor> sensors() const;
  /// Whether its frames may have pressure polygons.
  [[nodiscard]] bool hasPressure() const;
  [[nodiscard]] std::uint64_t modelHash() const;
  /// Of all frames, without reading them [s].
  [[nodiscard]] std::vector<Real> times() const;
  /// What plots over the whole time need, without reading the frames.
  [[nodiscard]] RecordedSeries series() const;
  /// Valid until the next call. Reading in order is fast: frames come in blocks. Throws
  /// InvalidInput for a frame that does not exist or is damaged.
  [[nodiscard]] const RecordedFrame& frame(std::int64_t index);
  /// Cauchy stress of each tetrahedron in the frame that was read last [Pa]; nothing in recordings
  /// of earlier versions, which do not say how elastic a soft body is.
  [[nodiscard]] std::vector<Mat3> softStress(int soft) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct RecordingDiffOptions {
  /// 0: every recorded number is compared, bit by bit, and the state hashes, which see what is not
  /// recorded. Otherwise the motion alone: poses, velocities and vertices that are no farther apart
  /// than this, each in its own unit, count as equal. (Contacts come and go by one step or the
  /// other.)
  Real tolerance = 0;
  bool onlyCommonSteps = false;  ///< a step that one of the two does not have is no difference
};

/// Where two recordings part.
struct RecordingDifference {
  std::optional<std::uint64_t> step;  ///< none: the models differ
  /// "model", "frames", "body", "soft body", "contact", "pressure", "sensor", "solver", "energy" or
  /// "state"
  std::string kind;
  std::string name;            ///< "box 3", or "box 3 on floor"
  std::string quantity;        ///< "position", "position of vertex 7"
  std::string value1, value2;  ///< with all digits
};

/// The first step, and there the first body, contact or number, that is not the same; nothing when
/// the recordings are equal.
[[nodiscard]] std::optional<RecordingDifference> firstDifference(
    RecordingReader& recording1, RecordingReader& recording2,
    const RecordingDiffOptions& options = {});

/// One row of the energy ledger under the name it has in files: "contact_normal".
struct LedgerRow {
  const char* name;
  Real EnergyLedger::*value;
  const char* meaning;
};
[[nodiscard]] std::span<const LedgerRow> energyLedgerRows();

}  // namespace tangere
