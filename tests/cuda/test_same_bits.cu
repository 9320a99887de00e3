// SPDX-License-Identifier: Apache-2.0
//
// The kernels give the same bits on the device as on the host: every family is evaluated for some
// thousand poses on both, for double and float, and the answers are compared word by word. Exit
// status 0: all equal; 1: something differs; 77: there is no device to run on.
#include "collision/kernels/box_box.hpp"
#include "collision/kernels/box_distance.hpp"
#include "collision/kernels/capsule_box.hpp"
#include "collision/kernels/capsule_capsule.hpp"
#include "collision/kernels/capsule_ellipsoid.hpp"
#include "collision/kernels/capsule_round.hpp"
#include "collision/kernels/convex_distance.hpp"
#include "collision/kernels/convex_manifold.hpp"
#include "collision/kernels/plane_contact.hpp"
#include "collision/kernels/segment_manifold.hpp"
#include "collision/kernels/sphere_contact.hpp"
#include "core/elementary.hpp"
#include "core/stable_hash.hpp"
#include "math/contact_frame.hpp"
#include "math/quat.hpp"
#include "math/symmetric_eigen.hpp"
#include "math/transform.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace tangere {
namespace {

using kernel::CoreType, kernel::PlanePoints;

constexpr int kNumScenes = 4096;
constexpr int kNoDevice = 77;

/// The words of one answer, in the order in which the evaluation wrote them.
struct Answer {
  static constexpr int kCapacity = 80;
  std::uint64_t words[kCapacity];
  int count;
  int hits;  ///< shapes that were near enough to be written

  TANGERE_HD void put(double value) {
    std::uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    push(bits);
  }
  TANGERE_HD void put(float value) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    push(bits);
  }
  TANGERE_HD void put(std::int32_t value) { push(static_cast<std::uint32_t>(value)); }
  template <class S>
  TANGERE_HD void put(const Vec3T<S>& v) {
    put(v.x);
    put(v.y);
    put(v.z);
  }
  template <class S>
  TANGERE_HD void put(const Mat3T<S>& m) {
    for (int i = 0; i < 3; ++i) put(m.col[i]);
  }
  template <class S>
  TANGERE_HD void put(const ContactManifoldT<S>& m) {
    put(m.count);
    put(static_cast<std::int32_t>(m.type));
    for (int i = 0; i < m.count; ++i) {
      put(m.points[i].position);
      put(m.points[i].normal);
      put(m.points[i].depth);
      put(m.points[i].feature1);
      put(m.points[i].feature2);
    }
  }

 private:
  TANGERE_HD void push(std::uint64_t bits) {
    if (count < kCapacity) words[count] = bits;
    ++count;  // beyond the capacity too: the comparison then reports it
  }
};

/// An octahedron with the corners +-size on each axis, in arrays that lie in one block of memory.
template <class S>
struct Octahedron {
  S x[8], y[8], z[8];
  int neighborStart[7], neighbor[24];
  Vec3T<S> faceNormal[8];
  S faceOffset[8];
  int faceStart[9], faceVertex[24];
  int vertexFaceStart[7], vertexFace[24];
  int edgeVertex[24], edgeFace[24];

  /// Vertex 2 k is at -size[k], 2 k + 1 at +size[k]; face f has the positive vertex of axis k where
  /// bit k of f is set.
  explicit Octahedron(const Vec3T<S>& size) {
    S* axes[3] = {x, y, z};
    for (int k = 0; k < 3; ++k)
      for (int v = 0; v < 8; ++v) {
        const int vertex = v < 6 ? v : 0;  // padding repeats vertex 0
        axes[k][v] = vertex / 2 != k ? S(0) : (vertex % 2 == 1 ? size[k] : -size[k]);
      }
    for (int f = 0; f < 8; ++f) {
      const auto corner = [&](int k) { return 2 * k + ((f >> k) & 1); };
      const bool isEven = (((f >> 0) ^ (f >> 1) ^ (f >> 2)) & 1) != 0;  // +++ is counter-clockwise
      faceStart[f] = 3 * f;
      faceVertex[3 * f] = corner(0);
      faceVertex[3 * f + 1] = isEven ? corner(1) : corner(2);
      faceVertex[3 * f + 2] = isEven ? corner(2) : corner(1);
      const Vec3T<S> slope{((f & 1) != 0 ? S(1) : S(-1)) / size.x,
                           ((f & 2) != 0 ? S(1) : S(-1)) / size.y,
                           ((f & 4) != 0 ? S(1) : S(-1)) / size.z};
      faceOffset[f] = S(1) / norm(slope);
      faceNormal[f] = slope * faceOffset[f];
    }
    faceStart[8] = 24;
    int numEdges = 0;
    for (int v = 0; v < 6; ++v) {
      neighborStart[v] = vertexFaceStart[v] = 4 * v;
      int count = 0;
      for (int other = 0; other < 6; ++other) {
        if (other / 2 == v / 2) continue;
        neighbor[4 * v + count++] = other;
        if (other < v) continue;
        edgeVertex[2 * numEdges] = v;
        edgeVertex[2 * numEdges + 1] = other;
        int side = 0;
        for (int f = 0; f < 8; ++f)
          if (isOn(v, f) && isOn(other, f)) edgeFace[2 * numEdges + side++] = f;
        ++numEdges;
      }
      count = 0;
      for (int f = 0; f < 8; ++f)
        if (isOn(v, f)) vertexFace[4 * v + count++] = f;
    }
    neighborStart[6] = vertexFaceStart[6] = 24;
  }
  TANGERE_HD kernel::HullView<S> view() const {
    kernel::HullView<S> hull;
    hull.x = x;
    hull.y = y;
    hull.z = z;
    hull.numVertices = 6;
    hull.neighborStart = neighborStart;
    hull.neighbor = neighbor;
    hull.numFaces = 8;
    hull.faceNormal = faceNormal;
    hull.faceOffset = faceOffset;
    hull.faceStart = faceStart;
    hull.faceVertex = faceVertex;
    hull.vertexFaceStart = vertexFaceStart;
    hull.vertexFace = vertexFace;
    hull.numEdges = 12;
    hull.edgeVertex = edgeVertex;
    hull.edgeFace = edgeFace;
    return hull;
  }

 private:
  static bool isOn(int vertex, int face) { return ((face >> (vertex / 2)) & 1) == vertex % 2; }
};

/// Two bodies: the shapes are made from the sizes by whoever evaluates.
template <class S>
struct Scene {
  TransformT<S> X_W1, X_W2;
  Vec3T<S> size1, size2;
};

template <class S>
struct World {
  const Scene<S>* scenes;
  const Octahedron<S>* hull;
};

class Random {
 public:
  double uniform(double low, double high) {
    state_ += 0x9e3779b97f4a7c15u;
    const std::uint64_t bits = core::StableHash::mixBits(state_);
    return low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53);
  }
  int index(int count) { return static_cast<int>(uniform(0, count)); }
  Vec3 vector(double low, double high) {
    const double x = uniform(low, high), y = uniform(low, high), z = uniform(low, high);
    return {x, y, z};
  }
  Mat3 rotation() {
    const Vec3 v = vector(-1, 1);
    return rotationMatrix(Quat{uniform(0.01, 1), v.x, v.y, v.z});
  }

 private:
  std::uint64_t state_ = 1;
};

template <class S>
Vec3T<S> as(const Vec3& v) {
  return {static_cast<S>(v.x), static_cast<S>(v.y), static_cast<S>(v.z)};
}

template <class S>
TransformT<S> as(const Transform& X) {
  const Mat3& R = X.rotation;
  return {{{as<S>(R.col[0]), as<S>(R.col[1]), as<S>(R.col[2])}}, as<S>(X.translation)};
}

/// Most are of any attitude, apart or overlapping. Every fourth has its bodies along the axes and
/// on a grid: faces, edges and corners that touch exactly, where ties are decided.
template <class S>
std::vector<Scene<S>> makeScenes() {
  Random random;
  const Mat3 turns[3] = {
      Mat3::identity(), {{{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}, {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}};
  const auto onGrid = [](const Vec3& v) {
    return Vec3{std::floor(v.x * 8) / 8, std::floor(v.y * 8) / 8, std::floor(v.z * 8) / 8};
  };
  std::vector<Scene<S>> scenes;
  for (int i = 0; i < kNumScenes; ++i) {
    const bool isAligned = i % 4 == 3;
    Transform X_W1, X_W2;
    X_W1.rotation = isAligned ? turns[random.index(3)] : random.rotation();
    X_W2.rotation = isAligned ? turns[random.index(3)] : random.rotation();
    X_W1.translation = random.vector(-1, 1);
    X_W2.translation = X_W1.translation + random.vector(-0.9, 0.9);
    Vec3 size1 = random.vector(0.25, 0.75), size2 = random.vector(0.25, 0.75);
    if (isAligned) {
      X_W1.translation = onGrid(X_W1.translation);
      X_W2.translation = onGrid(X_W2.translation);
      size1 = onGrid(size1);
      size2 = onGrid(size2);
    }
    scenes.push_back({as<S>(X_W1), as<S>(X_W2), as<S>(size1), as<S>(size2)});
  }
  return scenes;
}

template <class S>
TANGERE_HD kernel::ConvexView<S> makeView(CoreType core, const Vec3T<S>& size,
                                          const kernel::HullView<S>& hull) {
  using std::sqrt;
  kernel::ConvexView<S> view;
  view.core = core;
  view.size = size;
  const S across = sqrt(size.x * size.x + size.z * size.z);
  switch (core) {
    case CoreType::Point:
      view.size = {};
      view.radius = view.boundingRadius = size.x;
      break;
    case CoreType::Segment:
      view.size = {S(0), S(0), size.z};
      view.radius = size.x;
      view.boundingRadius = size.x + size.z;
      break;
    case CoreType::Cylinder:
      view.size.y = size.x;
      view.boundingRadius = across;
      break;
    case CoreType::Cone:
      view.size.y = size.x;
      view.center = {S(0), S(0), S(-0.5) * size.z};
      view.boundingRadius = S(2) * across;
      break;
    case CoreType::Hull:
      view.hull = &hull;
      view.boundingRadius = S(1);
      break;
    default:
      view.boundingRadius = norm(size);
  }
  return view;
}

/// Signed distance, overlap and manifold of two convex solids by the general path.
struct ConvexPair {
  CoreType core1, core2;

  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    const Scene<S>& scene = world.scenes[i];
    const kernel::HullView<S> hull = world.hull->view();
    const kernel::ConvexView<S> a = makeView(core1, scene.size1, hull);
    const kernel::ConvexView<S> b = makeView(core2, scene.size2, hull);
    const TransformT<S> X_12 = inverseTimes(scene.X_W1, scene.X_W2);
    const kernel::ConvexContact<S> contact =
        kernel::convexDistance(a, b, X_12, S(100), /*enableSigned=*/true);
    out->put(contact.distance);
    out->put(contact.normal);
    out->put(contact.pointA);
    out->put(contact.pointB);
    out->put(static_cast<std::int32_t>(contact.status));
    out->put(kernel::convexOverlap(a, b, X_12) ? 1 : 0);
    if (contact.distance > S(0)) return;
    ++out->hits;
    ContactManifoldT<S> manifold;
    kernel::buildConvexManifold(a, b, X_12, contact, &manifold);
    kernel::transformManifold(scene.X_W1, &manifold);
    out->put(manifold);
  }
};

struct BoxPairs {
  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    const Scene<S>& scene = world.scenes[i];
    const kernel::HullView<S> none;
    const kernel::ConvexView<S> a = makeView(CoreType::Box, scene.size1, none);
    const kernel::ConvexView<S> b = makeView(CoreType::Box, scene.size2, none);
    ContactManifoldT<S> manifold;
    out->hits += kernel::collideBoxBox(a, scene.X_W1, b, scene.X_W2, &manifold) > 0 ? 1 : 0;
    out->put(manifold);
    kernel::BoxPair<S> pair;
    kernel::makeBoxPair(a, scene.X_W1, b, scene.X_W2, &pair);
    const bool overlap = kernel::boxesOverlap(pair);
    out->put(overlap ? 1 : 0);
    if (overlap) return;
    kernel::BoxDistance<S> apart;
    const bool found = kernel::findBoxDistance(pair, Vec3T<S>{}, &apart);
    out->put(found ? 1 : 0);
    if (!found) return;
    out->put(apart.distance);
    out->put(apart.normal);
    out->put(apart.pointA);
    out->put(apart.pointB);
  }
};

struct SpherePairs {
  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    const Scene<S>& scene = world.scenes[i];
    const Vec3T<S> offset = scene.X_W1.translation - scene.X_W2.translation;
    const Mat3T<S>& R = scene.X_W2.rotation;
    const Vec3T<S>& size = scene.size2;
    const Vec3T<S> round{size.x, size.x, size.z};
    const kernel::HullView<S> hull = world.hull->view();
    const S limit = scene.size1.x;
    kernel::CenterDistance<S> d;
    put(kernel::centerToSphere(size.x, offset, limit, &d), d, out);
    put(kernel::centerToPlane(R, offset, limit, &d), d, out);
    put(kernel::centerToCapsule(size.x, size.z, R, offset, limit, &d), d, out);
    put(kernel::centerToBox(size, R, offset, limit, &d), d, out);
    put(kernel::centerToCylinder(round, R, offset, limit, &d), d, out);
    put(kernel::centerToCone(round, R, offset, limit, &d), d, out);
    put(kernel::centerToEllipsoid(size, R, offset, limit, &d), d, out);
    put(kernel::centerToHull(hull, S(1), R, offset, limit, &d), d, out);
  }

 private:
  template <class S>
  TANGERE_HD static void put(bool isNear, const kernel::CenterDistance<S>& d, Answer* out) {
    out->put(isNear ? 1 : 0);
    if (!isNear) return;
    ++out->hits;
    out->put(d.distance);
    out->put(d.normal);
    out->put(d.feature);
  }
};

/// Receives the points of a solid below a plane.
template <class S>
struct PlaneSink {
  Answer* out;

  TANGERE_HD void addIf(bool condition, const Vec3T<S>& p, S height, int feature) {
    if (condition) add(p, height, feature);
  }
  TANGERE_HD void add(const Vec3T<S>& p, S height, int feature) {
    ++out->hits;
    out->put(p);
    out->put(height);
    out->put(feature);
  }
};

template <PlanePoints kPoints>
struct PlanePairs {
  CoreType core;

  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    const Scene<S>& scene = world.scenes[i];
    const Mat3T<S>& R = scene.X_W2.rotation;
    const Vec3T<S>& n = scene.X_W1.rotation.col[2];
    const S height = dot(n, scene.X_W2.translation - scene.X_W1.translation);
    const Vec3T<S>& size = scene.size2;
    const Vec3T<S> round{size.x, size.x, size.z};
    const S limit(0);
    PlaneSink<S> sink{out};
    if (core == CoreType::Box) kernel::planeToBox<kPoints>(size, R, n, height, limit, sink);
    if (core == CoreType::Cylinder)
      kernel::planeToCylinder<kPoints>(round, R, n, height, limit, sink);
    if (core == CoreType::Cone) kernel::planeToCone<kPoints>(round, R, n, height, limit, sink);
    if (core == CoreType::Ellipsoid) kernel::planeToEllipsoid(size, R, n, height, limit, sink);
    if (core == CoreType::Segment)
      kernel::planeToCapsule<kPoints>(size.x, size.z, R, n, height, limit, sink);
    if (core == CoreType::Hull)
      kernel::planeToHull<kPoints>(world.hull->view(), R, n, height, limit, sink);
  }
};

struct CapsulePairs {
  CoreType core;

  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    const Scene<S>& scene = world.scenes[i];
    const TransformT<S> X_21 = inverseTimes(scene.X_W2, scene.X_W1);
    const kernel::SegmentT<S> segment{X_21.translation, X_21.rotation.col[2], scene.size1.z};
    const S radius = scene.size1.x;
    const Vec3T<S>& size = scene.size2;
    const Vec3T<S> round{size.x, size.x, size.z};
    if (core == CoreType::Segment) {
      kernel::SegmentPair<S> pair;
      if (!kernel::segmentToSegment(segment.axis, segment.halfLength, Vec3T<S>{0, 0, 1}, size.z,
                                    segment.center, radius + size.x, &pair))
        return;
      ++out->hits;
      out->put(pair.distance);
      out->put(pair.normal);
      out->put(pair.t1);
      out->put(pair.t2);
    } else if (core == CoreType::Box) {
      kernel::SegmentBoxContact<S> contact;
      if (!kernel::segmentToBox(size, segment, radius, &contact)) return;
      put(contact, out);
      put(kernel::segmentOnBox(size, segment, radius, contact), out);
    } else {
      kernel::SegmentContact<S> contact;
      if (core == CoreType::Cylinder) {
        if (!kernel::segmentToRound<CoreType::Cylinder>(round, segment, radius, &contact)) return;
        put(contact, out);
        put(kernel::segmentOnRound<CoreType::Cylinder>(round, segment, radius, contact), out);
      } else if (core == CoreType::Cone) {
        if (!kernel::segmentToRound<CoreType::Cone>(round, segment, radius, &contact)) return;
        put(contact, out);
        put(kernel::segmentOnRound<CoreType::Cone>(round, segment, radius, contact), out);
      } else if (core == CoreType::Ellipsoid) {
        if (kernel::segmentToEllipsoid(size, segment, radius, &contact)) put(contact, out);
      }
    }
  }

 private:
  template <class S>
  TANGERE_HD static void put(const kernel::SegmentContact<S>& contact, Answer* out) {
    ++out->hits;
    out->put(contact.distance);
    out->put(contact.normal);
    out->put(contact.t);
  }
  template <class S>
  TANGERE_HD static void put(const kernel::SegmentPoints<S>& points, Answer* out) {
    out->put(points.count);
    for (int k = 0; k < points.count; ++k) {
      out->put(points.points[k].t);
      out->put(points.points[k].height);
      out->put(points.points[k].up);
    }
  }
};

struct Elementary {
  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    ++out->hits;
    // From 1e-9 to 1e9 or so: the reductions of the arguments too.
    const Vec3T<S>& t = world.scenes[i].X_W1.translation;
    const S scales[3] = {S(1), S(1e-9), S(12345678)};
    for (int k = 0; k < 3; ++k) {
      const S x = t.x * scales[k], y = t.y;
      const auto both = core::sinCos(x);
      out->put(core::sin(x));
      out->put(core::cos(x));
      out->put(both.sin);
      out->put(both.cos);
      out->put(core::tan(x));
      out->put(core::atan(x));
      out->put(core::atan2(x, y));
      out->put(core::asin(y));
      out->put(core::acos(y));
      out->put(core::exp(k == 2 ? y * S(80) : x));
      out->put(core::log(x * x + S(1e-30)));
      out->put(core::cbrt(x));
    }
  }
};

struct Rotations {
  template <class S>
  TANGERE_HD void evaluate(const World<S>& world, int i, Answer* out) const {
    ++out->hits;
    const Scene<S>& scene = world.scenes[i];
    const Mat3T<S> R = math::rotationExp(scene.X_W1.translation * S(3));
    const QuatT<S> q = math::quatFromRotation(R);
    Mat3T<S> skewed = R, inertia = Mat3T<S>::identity();
    skewed(0, 1) += scene.size1.x;
    skewed(2, 0) -= scene.size1.y;
    for (int k = 0; k < 3; ++k) inertia(k, k) = scene.size1[k];
    const auto principal = math::principalAxes(R * inertia * transpose(R));
    out->put(R);
    out->put(rotationMatrix(q));
    out->put(math::rotationVector(q));
    out->put(math::nearestRotation(skewed));
    out->put(math::contactFrame(math::rotate(q, R.col[2])));
    out->put(principal.moments);
    out->put(principal.axes);
  }
};

template <class Case, class S>
__global__ void evaluateOnDevice(Case what, World<S> world, Answer* answers) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kNumScenes) what.evaluate(world, i, &answers[i]);
}

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Memory on the device with a copy of `values`.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : bytes_(values.size() * sizeof(T)) {
    require(cudaMalloc(&data_, bytes_), "cudaMalloc");
    require(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }
  void read(std::vector<T>& values) const {
    require(cudaMemcpy(values.data(), data_, bytes_, cudaMemcpyDeviceToHost), "copy to the host");
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

template <class S>
class Comparison {
 public:
  Comparison()
      : scenes_(makeScenes<S>()),
        hull_{Octahedron<S>({S(0.5), S(0.625), S(0.75)})},
        deviceScenes_(scenes_),
        deviceHull_(hull_) {}

  template <class Case>
  void run(const std::string& name, const Case& what) {
    std::vector<Answer> host(kNumScenes), device(kNumScenes);  // all zero
    const World<S> world{scenes_.data(), hull_.data()};
    for (int i = 0; i < kNumScenes; ++i)
      what.evaluate(world, i, &host[static_cast<std::size_t>(i)]);
    const DeviceArray<Answer> answers(device);
    constexpr int kBlock = 64;
    evaluateOnDevice<<<(kNumScenes + kBlock - 1) / kBlock, kBlock>>>(
        what, World<S>{deviceScenes_.data(), deviceHull_.data()}, answers.data());
    require(cudaGetLastError(), "launch");
    require(cudaDeviceSynchronize(), "run");
    answers.read(device);
    compare(name + (sizeof(S) == 4 ? " float" : " double"), host, device);
  }
  [[nodiscard]] int numFailed() const { return num_failed_; }

 private:
  void compare(const std::string& name, const std::vector<Answer>& host,
               const std::vector<Answer>& device) {
    int different = 0, hits = 0, overflowing = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      hits += host[i].hits;
      overflowing += host[i].count > Answer::kCapacity ? 1 : 0;
      if (std::memcmp(&host[i], &device[i], sizeof(Answer)) == 0) continue;
      if (++different <= 3) describe(i, host[i], device[i]);
    }
    const bool passed = different == 0 && hits > 0 && overflowing == 0;
    num_failed_ += passed ? 0 : 1;
    std::printf("%-34s %6d hits, %d of %d different  %s\n", name.c_str(), hits, different,
                kNumScenes, passed ? "ok" : "FAILED");
  }
  static void describe(std::size_t scene, const Answer& host, const Answer& device) {
    if (host.count != device.count)
      std::printf("  scene %zu: %d words on the host, %d on the device\n", scene, host.count,
                  device.count);
    for (int k = 0; k < Answer::kCapacity; ++k)
      if (host.words[k] != device.words[k]) {
        std::printf("  scene %zu, word %d: host %016llx, device %016llx\n", scene, k,
                    static_cast<unsigned long long>(host.words[k]),
                    static_cast<unsigned long long>(device.words[k]));
        return;
      }
  }

  std::vector<Scene<S>> scenes_;
  std::vector<Octahedron<S>> hull_;
  DeviceArray<Scene<S>> deviceScenes_;
  DeviceArray<Octahedron<S>> deviceHull_;
  int num_failed_ = 0;
};

template <class S>
int compareAll() {
  struct Named {
    CoreType core;
    const char* name;
  };
  constexpr Named kSolids[] = {{CoreType::Segment, "capsule"},     {CoreType::Box, "box"},
                               {CoreType::Cylinder, "cylinder"},   {CoreType::Cone, "cone"},
                               {CoreType::Ellipsoid, "ellipsoid"}, {CoreType::Hull, "hull"}};
  Comparison<S> comparison;
  comparison.run("elementary", Elementary{});
  comparison.run("rotations", Rotations{});
  comparison.run("sphere contacts", SpherePairs{});
  comparison.run("box-box", BoxPairs{});
  for (const Named& solid : kSolids) {
    comparison.run(std::string("plane-") + solid.name, PlanePairs<PlanePoints::All>{solid.core});
    comparison.run(std::string("plane-") + solid.name + " lowest",
                   PlanePairs<PlanePoints::Lowest>{solid.core});
  }
  for (const Named& solid : kSolids)
    if (solid.core != CoreType::Hull)
      comparison.run(std::string("capsule-") + solid.name, CapsulePairs{solid.core});
  for (const Named& first : kSolids)
    for (const Named& second : kSolids)
      if (first.core <= second.core)
        comparison.run(std::string("general ") + first.name + "-" + second.name,
                       ConvexPair{first.core, second.core});
  return comparison.numFailed();
}

}  // namespace
}  // namespace tangere

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("no CUDA device: nothing compared");
    return tangere::kNoDevice;
  }
  const int failed = tangere::compareAll<double>() + tangere::compareAll<float>();
  std::printf("%d comparisons failed\n", failed);
  return failed == 0 ? 0 : 1;
}
