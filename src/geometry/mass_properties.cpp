// SPDX-License-Identifier: Apache-2.0
#include "geometry/mass_properties.hpp"

#include "core/assert.hpp"

#include <cmath>

namespace tangere::geometry {

void requireDensity(Real density) {
  TANGERE_REQUIRE(density > 0 && std::isfinite(density),
                  "density must be positive and finite [kg/m^3]", density);
}

void VolumeIntegrals::addTriangle(const Vec3& a_, const Vec3& b_, const Vec3& c_) {
  const Vec3 a = a_ - origin, b = b_ - origin, c = c_ - origin;
  const Real v6 = dot(a, cross(b, c));
  const Vec3 s = a + b + c;
  volume += v6 / 6;
  first += s * (v6 / 24);
  // Integral of x_i x_j over a tetrahedron with one corner at the origin:
  // V/20 (sum of the products at the corners + product of the sums).
  const Real w = v6 / 120;
  second += Vec3{a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x,
                 a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y,
                 a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z} *
            w;
  mixed += Vec3{a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z,
                a.z * a.x + b.z * b.x + c.z * c.x + s.z * s.x,
                a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y} *
           w;
}

MassProperties VolumeIntegrals::massProperties(Real density) const {
  const Vec3 c = first / volume;
  const Vec3 s = second - Vec3{c.x * c.x, c.y * c.y, c.z * c.z} * volume;
  const Vec3 m = mixed - Vec3{c.y * c.z, c.z * c.x, c.x * c.y} * volume;
  MassProperties out{.mass = density * volume, .center = origin + c};
  out.inertia = {{{density * (s.y + s.z), -density * m.z, -density * m.y},
                  {-density * m.z, density * (s.z + s.x), -density * m.x},
                  {-density * m.y, -density * m.x, density * (s.x + s.y)}}};
  return out;
}

MassProperties transformed(const MassProperties& mass, const Transform& X) {
  const Mat3& R = X.rotation;
  MassProperties out{.mass = mass.mass, .center = X * mass.center};
  out.inertia = R * mass.inertia * transpose(R);
  // Symmetric to the last bit, whatever the rounding of the products.
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      const Real mean = Real(0.5) * (out.inertia(i, j) + out.inertia(j, i));
      out.inertia(i, j) = mean;
      out.inertia(j, i) = mean;
    }
  }
  return out;
}

MassProperties sum(std::span<const MassProperties> parts) {
  MassProperties out;
  for (const MassProperties& part : parts) {
    out.mass += part.mass;
    out.center += part.center * part.mass;
  }
  out.center = out.center / out.mass;
  for (const MassProperties& part : parts) {
    const Vec3 d = part.center - out.center;
    const Real dd = squaredNorm(d);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        out.inertia(i, j) += part.inertia(i, j) + part.mass * ((i == j ? dd : 0) - d[i] * d[j]);
      }
    }
  }
  return out;
}

}  // namespace tangere::geometry
