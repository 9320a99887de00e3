// SPDX-License-Identifier: Apache-2.0
//
// Compiles every kernel as device code, for double and float: kernel_instantiations.hpp, made by
// instantiate_kernels.py, names each template once. The wrappers below are what a batched step
// launches: an index and a call, nothing else.
#include "kernel_instantiations.hpp"

#include "core/elementary.hpp"
#include "math/contact_frame.hpp"
#include "math/quat.hpp"
#include "math/symmetric_eigen.hpp"
#include "math/transform.hpp"

namespace tangere {
namespace {

__device__ int threadIndex() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

template <class S>
__global__ void collideBoxBoxes(const kernel::ConvexView<S>* views, const TransformT<S>* X_W,
                                const int* pairs, int numPairs, ContactManifoldT<S>* out) {
  const int i = threadIndex();
  if (i >= numPairs) return;
  const int a = pairs[2 * i], b = pairs[2 * i + 1];
  kernel::collideBoxBox(views[a], X_W[a], views[b], X_W[b], &out[i]);
}

template <class S>
__global__ void findConvexDistances(const kernel::ConvexView<S>* views, const TransformT<S>* X_AB,
                                    const int* pairs, int numPairs, kernel::ConvexHint<S>* hints,
                                    kernel::ConvexContact<S>* out) {
  const int i = threadIndex();
  if (i >= numPairs) return;
  const kernel::ConvexView<S>& a = views[pairs[2 * i]];
  const kernel::ConvexView<S>& b = views[pairs[2 * i + 1]];
  if (!kernel::convexOverlap(a, b, X_AB[i], &hints[i])) return;
  out[i] = kernel::convexDistance(a, b, X_AB[i], S(1), /*enableSigned=*/true, &hints[i]);
}

/// Receives the points of a solid below a plane.
template <class S>
struct PlanePointList {
  Vec3T<S> point[4];
  S height[4];
  int feature[4];
  int count = 0;

  TANGERE_HD void addIf(bool condition, const Vec3T<S>& p, S h, int f) {
    if (!condition) return;
    point[count] = p;
    height[count] = h;
    feature[count++] = f;
  }
  TANGERE_HD void add(const Vec3T<S>& p, S h, int f) { addIf(true, p, h, f); }
};

template <kernel::PlanePoints kPoints, class S>
__global__ void findPlaneContacts(const kernel::ConvexView<S>* views, const TransformT<S>* X_WB,
                                  int count, PlanePointList<S>* out) {
  const int i = threadIndex();
  if (i >= count) return;
  const Vec3T<S> n{S(0), S(0), S(1)};
  const kernel::ConvexView<S>& view = views[i];
  const Mat3T<S>& R = X_WB[i].rotation;
  const S height = X_WB[i].translation.z, limit = S(0);
  switch (view.core) {
    case kernel::CoreType::Box:
      return kernel::planeToBox<kPoints>(view.size, R, n, height, limit, out[i]);
    case kernel::CoreType::Cylinder:
      return kernel::planeToCylinder<kPoints>(view.size, R, n, height, limit, out[i]);
    case kernel::CoreType::Cone:
      return kernel::planeToCone<kPoints>(view.size, R, n, height, limit, out[i]);
    case kernel::CoreType::Segment:
      return kernel::planeToCapsule<kPoints>(view.radius, view.size.z, R, n, height, limit, out[i]);
    case kernel::CoreType::Hull:
      return kernel::planeToHull<kPoints>(*view.hull, R, n, height, limit, out[i]);
    default:
      return;
  }
}

template <kernel::CoreType kCore, class S>
__global__ void findSegmentContacts(const Vec3T<S>* sizes, const kernel::SegmentT<S>* segments,
                                    int count, kernel::SegmentPoints<S>* out) {
  const int i = threadIndex();
  if (i >= count) return;
  kernel::SegmentContact<S> contact;
  if (!kernel::segmentToRound<kCore>(sizes[i], segments[i], S(1), &contact)) return;
  out[i] = kernel::segmentOnRound<kCore>(sizes[i], segments[i], S(0.1), contact);
}

template <class S>
__global__ void evaluateElementary(const S* x, int count, S* out) {
  const int i = threadIndex();
  if (i >= count) return;
  const auto both = core::sinCos(x[i]);
  S* row = out + 12 * i;
  row[0] = core::sin(x[i]);
  row[1] = core::cos(x[i]);
  row[2] = both.sin;
  row[3] = both.cos;
  row[4] = core::tan(x[i]);
  row[5] = core::atan(x[i]);
  row[6] = core::atan2(x[i], S(0.5));
  row[7] = core::asin(x[i]);
  row[8] = core::acos(x[i]);
  row[9] = core::exp(x[i]);
  row[10] = core::log(x[i]);
  row[11] = core::cbrt(x[i]);
}

template <class S>
__global__ void rotateFrames(const Vec3T<S>* w, int count, Mat3T<S>* out) {
  const int i = threadIndex();
  if (i >= count) return;
  const Mat3T<S> R = math::nearestRotation(math::rotationExp(w[i]));
  const QuatT<S> q = math::quatFromRotation(R);
  out[i] = math::contactFrame(math::rotate(q, R.col[2])) * math::principalAxes(R).axes;
}

// Taking the address of a launchable function instantiates it on the device as well.
template <class S>
void instantiate() {
  using kernel::CoreType, kernel::PlanePoints;
  (void)&collideBoxBoxes<S>;
  (void)&findConvexDistances<S>;
  (void)&findPlaneContacts<PlanePoints::Lowest, S>;
  (void)&findPlaneContacts<PlanePoints::All, S>;
  (void)&findSegmentContacts<CoreType::Cylinder, S>;
  (void)&findSegmentContacts<CoreType::Cone, S>;
  (void)&evaluateElementary<S>;
  (void)&rotateFrames<S>;
}

template void instantiate<double>();
template void instantiate<float>();

}  // namespace
}  // namespace tangere
