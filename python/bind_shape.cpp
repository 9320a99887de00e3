// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "collision_enums.hpp"
#include "struct_binding.hpp"

#include <tangere/shape.hpp>

#include <cstdint>

namespace tangere::python {

namespace {

void bindPlainTypes(nb::module_& m) {
  nb::enum_<ShapeType>(m, "ShapeType", "Kinds of shapes.")
      .value("SPHERE", ShapeType::Sphere)
      .value("BOX", ShapeType::Box)
      .value("CAPSULE", ShapeType::Capsule)
      .value("CYLINDER", ShapeType::Cylinder)
      .value("CONE", ShapeType::Cone)
      .value("ELLIPSOID", ShapeType::Ellipsoid)
      .value("PLANE", ShapeType::Plane)
      .value("CONVEX", ShapeType::Convex)
      .value("MESH", ShapeType::Mesh)
      .value("HEIGHT_FIELD", ShapeType::HeightField)
      .value("POINT_CLOUD", ShapeType::PointCloud)
      .value("COMPOUND", ShapeType::Compound);
  bindStruct<Aabb>(m, "Aabb", "Closed axis-aligned box; touching boxes overlap.",
                   field("lower", &Aabb::lower, "lowest corner [m]"),
                   field("upper", &Aabb::upper, "highest corner [m]"))
      .def("overlaps", &Aabb::overlaps, nb::arg("other"), "Whether two boxes overlap or touch.")
      .def(
          "contains", [](const Aabb& self, const Vec3& point) { return self.contains(point); },
          nb::arg("point"), "Whether a point is inside or on the surface.");
  bindStruct<MassProperties>(
      m, "MassProperties", "Mass, centre of mass and rotational inertia about that centre.",
      field("mass", &MassProperties::mass, "[kg]"), field("center", &MassProperties::center, "[m]"),
      field("inertia", &MassProperties::inertia, "about the centre, 3 x 3 [kg m^2]"));
  bindResult<RayHit>(
      m, "RayHit", "Where a ray first meets a surface.",
      field("t", &RayHit::t, "along the ray, in multiples of its direction"),
      field("position", &RayHit::position, "[m]"),
      field("normal", &RayHit::normal, "unit, against the ray"),
      field("feature", &RayHit::feature, "triangle, cell, point or child that was hit; -1: none"));
  bindResult<SignedDistance>(
      m, "SignedDistance", "Distance of a point to a shape: negative inside a solid.",
      field("distance", &SignedDistance::distance, "[m]"),
      field("closest", &SignedDistance::closest, "nearest point of the surface"),
      field("normal", &SignedDistance::normal, "outward unit normal there"));
}

std::optional<RayHit> castRay(const Shape& shape, const Vec3& origin, const Vec3& direction,
                              Real maxT) {
  return shape.rayCast({.origin = origin, .direction = direction, .maxT = maxT});
}

void bindBase(nb::module_& m) {
  nb::class_<Shape>(m, "Shape",
                    "A collision shape: immutable, in its own frame, shared by any number of "
                    "bodies and threads.")
      .def_prop_ro("type", &Shape::type, "Kind of shape.")
      .def_prop_ro("local_aabb", &Shape::localAabb, nb::rv_policy::copy,
                   "Tight box in the shape's frame.")
      .def("world_aabb", &Shape::worldAabb, nb::arg("pose"), "Box of the shape at a pose.")
      .def("support", &Shape::support, nb::arg("direction"),
           "A farthest point along a direction; of the convex hull for other shapes.")
      .def("mass_properties", &Shape::massProperties, nb::arg("density"),
           "Of a solid of uniform density [kg/m^3].")
      .def("ray_cast", &castRay, nb::arg("origin"), nb::arg("direction"), nb::arg("max_t") = 1e300,
           "First crossing of the surface by origin + t direction, or None.\n\n"
           ">>> from tangere.collision import Sphere\n"
           ">>> Sphere(1).ray_cast([-3, 0, 0], [1, 0, 0]).t\n"
           "2.0\n")
      .def("signed_distance", &Shape::signedDistance, nb::arg("point"),
           "Distance of a point: negative inside.\n\n"
           ">>> from tangere.collision import Box\n"
           ">>> Box([1, 1, 1]).signed_distance([3, 0, 0]).distance\n"
           "2.0\n");
}

template <class T>
void bindRound(nb::module_& m, const char* name, const char* doc, const char* length,
               Real (T::*getLength)() const) {
  nb::class_<T, Shape>(m, name, doc)
      .def(nb::init<Real, Real>(), nb::arg("radius"), nb::arg(length))
      .def_prop_ro("radius", &T::radius, "[m]")
      .def_prop_ro(length, getLength, "[m]")
      .def("__repr__",
           [name, length, getLength](const T& self) {
             return nb::str("{}(radius={!r}, {}={!r})")
                 .attr("format")(name, self.radius(), length, (self.*getLength)());
           })
      .def("__getstate__",
           [getLength](const T& self) {
             return std::tuple<Real, Real>(self.radius(), (self.*getLength)());
           })
      .def("__setstate__", [](T& self, const std::tuple<Real, Real>& sizes) {
        new (&self) T(std::get<0>(sizes), std::get<1>(sizes));
      });
}

template <class T>
void bindExtent(nb::module_& m, const char* name, const char* doc, const char* size,
                const Vec3& (T::*getSize)() const) {
  nb::class_<T, Shape>(m, name, doc)
      .def(nb::init<const Vec3&>(), nb::arg(size))
      .def_prop_ro(size, getSize, "[m]")
      .def("__repr__",
           [name, getSize](const T& self) {
             const Vec3 s = (self.*getSize)();
             return nb::str("{}([{!r}, {!r}, {!r}])").attr("format")(name, s.x, s.y, s.z);
           })
      .def("__getstate__",
           [getSize](const T& self) {
             const Vec3 s = (self.*getSize)();
             return std::array<Real, 3>{s.x, s.y, s.z};
           })
      .def("__setstate__", [](T& self, const std::array<Real, 3>& s) {
        new (&self) T(Vec3{s[0], s[1], s[2]});
      });
}

void bindPrimitives(nb::module_& m) {
  nb::class_<Sphere, Shape>(m, "Sphere",
                            "Ball about the origin.\n\n"
                            ">>> from tangere.collision import Sphere\n"
                            ">>> round(Sphere(0.5).mass_properties(1000).mass, 3)\n"
                            "523.599\n")
      .def(nb::init<Real>(), nb::arg("radius"))
      .def_prop_ro("radius", &Sphere::radius, "[m]")
      .def("__repr__",
           [](const Sphere& self) {
             return nb::str("Sphere(radius={!r})").attr("format")(self.radius());
           })
      .def("__getstate__", &Sphere::radius)
      .def("__setstate__", [](Sphere& self, Real radius) { new (&self) Sphere(radius); });
  bindExtent<Box>(m, "Box", "Box about the origin, given by its half sizes.", "half_extents",
                  &Box::halfExtents);
  bindExtent<Ellipsoid>(m, "Ellipsoid", "Ellipsoid about the origin, given by its semi-axes.",
                        "semi_axes", &Ellipsoid::semiAxes);
  bindRound<Capsule>(m, "Capsule",
                     "All points within `radius` of the segment of z from -half_length to "
                     "half_length.",
                     "half_length", &Capsule::halfLength);
  bindRound<Cylinder>(m, "Cylinder",
                      "Cylinder about the z axis from z = -half_length to half_length.",
                      "half_length", &Cylinder::halfLength);
  bindRound<Cone>(m, "Cone",
                  "Cone about the z axis: base at z = -half_height, apex at half_height.",
                  "half_height", &Cone::halfHeight);
  nb::class_<Plane, Shape>(m, "Plane", "The solid half space z <= 0 of its frame.")
      .def(nb::init<>())
      .def("__repr__", [](const Plane&) { return "Plane()"; })
      .def("__getstate__", [](const Plane&) { return std::tuple<int>(0); })
      .def("__setstate__", [](Plane& self, const std::tuple<int>&) { new (&self) Plane(); });
}

std::vector<Triangle> toTriangles(const ArrayLike& input) {
  const InputArray<std::int32_t> numbers = toArray<std::int32_t>(input, "triangles", {kAny, 3});
  std::vector<Triangle> out(numbers.shape[0]);
  static_assert(sizeof(Triangle) == 3 * sizeof(std::int32_t));
  if (!out.empty()) std::memcpy(out.data(), numbers.data, numbers.size * sizeof(std::int32_t));
  return out;
}

void bindConvex(nb::module_& m) {
  nb::class_<Convex, Shape>(
      m, "Convex",
      "Convex hull of any points that span a volume; coplanar facets become polygons.\n\n"
      ">>> from tangere.collision import Convex\n"
      ">>> import itertools\n"
      ">>> cube = Convex(list(itertools.product([0, 1], repeat=3)))\n"
      ">>> cube.num_faces\n"
      "6\n")
      .def(
          "__init__",
          [](Convex* self, const ArrayLike& points) {
            new (self) Convex(toVectors(points, "points"));
          },
          nb::arg("points"))
      .def_prop_ro(
          "vertices", [](const Convex& self) { return makeArray(self.vertices()); },
          "Vertices of the hull, (n, 3), sorted by x, y, z.")
      .def_prop_ro("num_faces", &Convex::numFaces, "Polygons of the hull.")
      .def(
          "face",
          [](const Convex& self, int index) {
            if (index < 0 || index >= self.numFaces()) throw nb::index_error("no such face");
            const std::span<const int> face = self.face(index);
            return makeArray<std::int32_t>({face.begin(), face.end()}, {face.size()});
          },
          nb::arg("index"), "Vertices of one face, counter-clockwise seen from outside.")
      .def("__repr__",
           [](const Convex& self) {
             return nb::str("Convex({} vertices, {} faces)")
                 .attr("format")(self.vertices().size(), self.numFaces());
           })
      .def("__getstate__", [](const Convex& self) { return makeArray(self.vertices()); })
      .def("__setstate__", [](Convex& self, const ArrayLike& points) {
        new (&self) Convex(toVectors(points, "points"));
      });
}

void bindShapeMesh(nb::module_& m) {
  nb::class_<Mesh, Shape>(m, "Mesh",
                          "Triangle mesh, concave or not. Closed: a solid; open: a surface. "
                          "Triangles without an area are dropped and counted.")
      .def(
          "__init__",
          [](Mesh* self, const ArrayLike& vertices, const ArrayLike& triangles) {
            new (self) Mesh(toVectors(vertices, "vertices"), toTriangles(triangles));
          },
          nb::arg("vertices"), nb::arg("triangles"))
      .def_prop_ro(
          "vertices", [](const Mesh& self) { return makeArray(self.vertices()); }, "(n, 3) [m]")
      .def_prop_ro(
          "triangles", [](const Mesh& self) { return makeIndexArray(self.triangles()); },
          "(n, 3) indices of vertices, counter-clockwise seen from outside.")
      .def_prop_ro("is_closed", &Mesh::isClosed, "Whether it is a solid.")
      .def_prop_ro("num_dropped_triangles", &Mesh::numDroppedTriangles,
                   "Triangles without an area that were left out.")
      .def_prop_ro("was_inside_out", &Mesh::wasInsideOut,
                   "Whether it was given with its triangles facing inward.")
      .def("__repr__",
           [](const Mesh& self) {
             return nb::str("Mesh({} vertices, {} triangles)")
                 .attr("format")(self.vertices().size(), self.triangles().size());
           })
      .def("__getstate__",
           [](const Mesh& self) {
             return nb::make_tuple(makeArray(self.vertices()), makeIndexArray(self.triangles()));
           })
      .def("__setstate__", [](Mesh& self, const std::tuple<ArrayLike, ArrayLike>& parts) {
        new (&self)
            Mesh(toVectors(std::get<0>(parts), "vertices"), toTriangles(std::get<1>(parts)));
      });
}

void bindPointCloud(nb::module_& m) {
  nb::class_<PointCloud, Shape>(m, "PointCloud",
                                "Points, each a ball of `point_radius` (0 allowed).")
      .def(
          "__init__",
          [](PointCloud* self, const ArrayLike& points, Real radius) {
            new (self) PointCloud(toVectors(points, "points"), radius);
          },
          nb::arg("points"), nb::arg("point_radius") = 0.0)
      .def_prop_ro(
          "points", [](const PointCloud& self) { return makeArray(self.points()); }, "(n, 3) [m]")
      .def_prop_ro("point_radius", &PointCloud::pointRadius, "[m]")
      .def("__getstate__",
           [](const PointCloud& self) {
             return nb::make_tuple(makeArray(self.points()), self.pointRadius());
           })
      .def("__setstate__", [](PointCloud& self, const std::tuple<ArrayLike, Real>& parts) {
        new (&self) PointCloud(toVectors(std::get<0>(parts), "points"), std::get<1>(parts));
      });
}

void makeHeightField(HeightField* self, const ArrayLike& heights, Real sizeX, Real sizeY) {
  const InputArray<Real> grid = toArray<Real>(heights, "heights", {kAny, kAny});
  new (self) HeightField(static_cast<int>(grid.shape[1]), static_cast<int>(grid.shape[0]), sizeX,
                         sizeY, grid.values());
}

NumpyArray<Real> heightsOf(const HeightField& self) {
  const std::span<const Real> heights = self.heights();
  return makeArray<Real>({heights.begin(), heights.end()}, {static_cast<std::size_t>(self.numY()),
                                                            static_cast<std::size_t>(self.numX())});
}

using ChildPair = std::tuple<std::shared_ptr<const Shape>, Transform>;

std::vector<Compound::Child> toChildren(const std::vector<ChildPair>& pairs) {
  std::vector<Compound::Child> children;
  for (const ChildPair& pair : pairs)
    children.push_back({.shape = std::get<0>(pair), .pose = std::get<1>(pair)});
  return children;
}

std::vector<ChildPair> childrenOf(const Compound& self) {
  std::vector<ChildPair> out;
  for (const Compound::Child& child : self.children()) out.emplace_back(child.shape, child.pose);
  return out;
}

void bindGridAndCompound(nb::module_& m) {
  nb::class_<HeightField, Shape>(
      m, "HeightField",
      "Terrain on a regular grid centred at the origin, solid below. heights[j, i] is the height "
      "at x = -size_x/2 + i size_x/(nx-1), y likewise with j.")
      .def("__init__", &makeHeightField, nb::arg("heights"), nb::arg("size_x"), nb::arg("size_y"))
      .def_prop_ro("size_x", &HeightField::sizeX, "[m]")
      .def_prop_ro("size_y", &HeightField::sizeY, "[m]")
      .def_prop_ro("heights", &heightsOf, "(ny, nx) [m]")
      .def("__getstate__",
           [](const HeightField& self) {
             return nb::make_tuple(heightsOf(self), self.sizeX(), self.sizeY());
           })
      .def("__setstate__", [](HeightField& self, const std::tuple<ArrayLike, Real, Real>& parts) {
        makeHeightField(&self, std::get<0>(parts), std::get<1>(parts), std::get<2>(parts));
      });
  nb::class_<Compound, Shape>(m, "Compound",
                              "Union of shapes, each at its own pose. Children may not be "
                              "compounds.\n\n"
                              ">>> from tangere.collision import Compound, Sphere\n"
                              ">>> pair = Compound([(Sphere(1), [-2, 0, 0]), "
                              "(Sphere(1), [2, 0, 0])])\n"
                              ">>> len(pair.children)\n"
                              "2\n")
      .def(
          "__init__",
          [](Compound* self, const std::vector<ChildPair>& children) {
            new (self) Compound(toChildren(children));
          },
          nb::arg("children"))
      .def_prop_ro("children", &childrenOf, "Pairs of a shape and its pose.")
      .def("__getstate__", &childrenOf)
      .def("__setstate__", [](Compound& self, const std::vector<ChildPair>& children) {
        new (&self) Compound(toChildren(children));
      });
}

}  // namespace

void bindShape(nb::module_& m) {
  bindPlainTypes(m);
  bindBase(m);
  bindPrimitives(m);
  bindConvex(m);
  bindShapeMesh(m);
  bindPointCloud(m);
  bindGridAndCompound(m);
}

}  // namespace tangere::python
