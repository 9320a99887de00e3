// SPDX-License-Identifier: Apache-2.0
//
// A run as the viewer reads it (viewer/src/stream.ts): a scene, which stays, and frames of bytes.
#pragma once

#include <tangere/recording.hpp>

#include "console.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tangere::cli {

/// `visuals` as readVisuals() made them.
[[nodiscard]] Json viewScene(const Model& model, std::span<const VisualShape> visuals,
                             const std::string& title);
[[nodiscard]] Json viewScene(const RecordingReader& recording, const std::string& title);

/// What a page is told of a recording before it asks for frames: times, plots, marks.
[[nodiscard]] Json viewIndex(Json scene, const RecordedSeries& series, std::int64_t framesPerChunk);

/// What happened in the steps since the last frame that is shown.
struct ViewNews {
  StepStatus status = StepStatus::Ok;
  int numEvents = 0;  ///< of the event solver

  /// After each step.
  void add(const Simulator& simulator) {
    status = status | simulator.report().status;
    numEvents += static_cast<int>(simulator.events().size());
  }
};

/// What a frame shows besides what a recording keeps.
struct ViewExtras {
  ViewNews news{};
  EnergyLedger work{};  ///< the rows that are work, summed since the start
  /// Cauchy stress of the tetrahedra of each soft body [Pa]; empty: unknown.
  std::vector<std::vector<Mat3>> softStress{};
};
/// Of a simulator as it is now.
[[nodiscard]] ViewExtras extrasOf(const Simulator& simulator, const ViewNews& news);

/// Makes frames of one model. Of soft bodies only the vertices on the surface are shown.
class ViewEncoder {
 public:
  explicit ViewEncoder(const Model& model);
  explicit ViewEncoder(const RecordingReader& recording);

  /// Appends one frame to `out`.
  void encode(const RecordFrame& frame, const ViewExtras& extras,
              std::vector<std::byte>* out) const;

 private:
  struct Soft {
    int firstVertex = 0;       // among those of all soft bodies
    std::vector<int> shown{};  // of its own vertices
    std::vector<Tet> tets{};
    std::vector<Real> volume{};  // of each tetrahedron, at rest
    int numVertices = 0;
  };
  void addSoft(int firstVertex, std::span<const Vec3> rest, std::span<const Tet> tets,
               std::span<const Triangle> surface);
  /// Two numbers for each vertex that is shown: equivalent stress (von Mises) and pressure [Pa].
  void addStress(const Soft& soft, std::span<const Mat3> stress, std::vector<float>* out) const;

  std::vector<Soft> softs_;
  std::size_t num_shown_ = 0;  // vertices
};

/// The viewer's page with `data` inside; a name in it cannot end the script it is in.
[[nodiscard]] std::string viewerPage(const Json& data, const std::string& nonce = {});
/// Whether the viewer was built with this program.
[[nodiscard]] bool hasViewer();

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace tangere::cli
