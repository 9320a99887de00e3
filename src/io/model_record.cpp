// SPDX-License-Identifier: Apache-2.0
#include "io/model_record.hpp"

#include <tangere/tet_mesh.hpp>

#include <array>
#include <span>
#include <vector>

namespace tangere::io {

namespace {

template <class T>
void writeAttribute(hid_t object, const char* name, T value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(object, name, fileType<T>(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(attribute.id(), nativeType<T>(), &value);
}

Hdf5Handle createDataset(hid_t group, const char* name, hid_t type,
                         const std::vector<hsize_t>& shape) {
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                         H5Sclose);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  return {H5Dcreate2(group, name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
          H5Dclose};
}

/// `rowShape` numbers make one row.
template <class T>
void writeArray(hid_t group, const char* name, const std::vector<T>& values,
                const std::vector<hsize_t>& rowShape, const char* unit, const char* meaning) {
  hsize_t rowSize = 1;
  for (const hsize_t extent : rowShape) rowSize *= extent;
  std::vector<hsize_t> shape = {values.size() / rowSize};
  shape.insert(shape.end(), rowShape.begin(), rowShape.end());
  const Hdf5Handle dataset = createDataset(group, name, fileType<T>(), shape);
  if (!values.empty())
    H5Dwrite(dataset.id(), nativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  if (*unit != '\0') writeText(dataset.id(), "unit", unit);
  if (*meaning != '\0') writeText(dataset.id(), "meaning", meaning);
}

void writeTexts(hid_t group, const char* name, const std::vector<std::string>& texts,
                const char* meaning) {
  const Hdf5Handle type = textType();
  const Hdf5Handle dataset = createDataset(group, name, type.id(), {texts.size()});
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  if (!texts.empty())
    H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data());
  writeText(dataset.id(), "meaning", meaning);
}

const char* bodyTypeName(BodyType type) {
  switch (type) {
    case BodyType::Dynamic:
      return "dynamic";
    case BodyType::Fixed:
      return "fixed";
    case BodyType::Kinematic:
      return "kinematic";
  }
  return "dynamic";
}

void append(std::vector<Real>& list, const Vec3& v) { list.insert(list.end(), {v.x, v.y, v.z}); }

/// The shapes of a model as columns; the children of a compound are rows of their own.
struct ShapeTable {
  std::vector<std::string> type;
  std::vector<std::int32_t> shape, body;
  std::vector<Real> rotation, position, size, vertices;
  std::vector<std::int32_t> triangles;
  std::vector<std::uint64_t> vertexOffset{0}, triangleOffset{0};

  void add(int index, int bodyIndex, const Shape& geometry, const Transform& pose);
  void addGeometry(const Shape& geometry);
  void addVertices(std::span<const Vec3> points) {
    for (const Vec3& point : points) append(vertices, point);
  }
  void addTriangle(int a, int b, int c) { triangles.insert(triangles.end(), {a, b, c}); }
  void addHull(const Convex& hull);
  void addTerrain(const HeightField& field);
};

void ShapeTable::add(int index, int bodyIndex, const Shape& geometry, const Transform& pose) {
  if (geometry.type() == ShapeType::Compound) {
    for (const Compound::Child& child : static_cast<const Compound&>(geometry).children())
      add(index, bodyIndex, *child.shape, pose * child.pose);
    return;
  }
  type.emplace_back(shapeTypeName(geometry.type()));
  shape.push_back(index);
  body.push_back(bodyIndex);
  for (int row = 0; row < 3; ++row)
    append(rotation, {pose.rotation(row, 0), pose.rotation(row, 1), pose.rotation(row, 2)});
  append(position, pose.translation);
  addGeometry(geometry);
  vertexOffset.push_back(vertices.size() / 3);
  triangleOffset.push_back(triangles.size() / 3);
}

void ShapeTable::addGeometry(const Shape& geometry) {
  Vec3 sizes{};
  switch (geometry.type()) {
    case ShapeType::Sphere:
      sizes.x = static_cast<const Sphere&>(geometry).radius();
      break;
    case ShapeType::Box:
      sizes = static_cast<const Box&>(geometry).halfExtents();
      break;
    case ShapeType::Capsule:
      sizes.x = static_cast<const Capsule&>(geometry).radius();
      sizes.y = static_cast<const Capsule&>(geometry).halfLength();
      break;
    case ShapeType::Cylinder:
      sizes.x = static_cast<const Cylinder&>(geometry).radius();
      sizes.y = static_cast<const Cylinder&>(geometry).halfLength();
      break;
    case ShapeType::Cone:
      sizes.x = static_cast<const Cone&>(geometry).radius();
      sizes.y = static_cast<const Cone&>(geometry).halfHeight();
      break;
    case ShapeType::Ellipsoid:
      sizes = static_cast<const Ellipsoid&>(geometry).semiAxes();
      break;
    case ShapeType::Convex:
      addHull(static_cast<const Convex&>(geometry));
      break;
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(geometry);
      addVertices(mesh.vertices());
      for (const Triangle& t : mesh.triangles()) addTriangle(t[0], t[1], t[2]);
      break;
    }
    case ShapeType::HeightField:
      addTerrain(static_cast<const HeightField&>(geometry));
      break;
    case ShapeType::PointCloud:
      addVertices(static_cast<const PointCloud&>(geometry).points());
      sizes.x = static_cast<const PointCloud&>(geometry).pointRadius();
      break;
    case ShapeType::Plane:
    case ShapeType::Compound:
      break;
  }
  append(size, sizes);
}

void ShapeTable::addHull(const Convex& hull) {
  addVertices(hull.vertices());
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    for (std::size_t k = 2; k < face.size(); ++k) addTriangle(face[0], face[k - 1], face[k]);
  }
}

void ShapeTable::addTerrain(const HeightField& field) {
  const int numX = field.numX(), numY = field.numY();
  for (int j = 0; j < numY; ++j)
    for (int i = 0; i < numX; ++i) {
      append(vertices, {field.sizeX() * (static_cast<Real>(i) / (numX - 1) - 0.5),
                        field.sizeY() * (static_cast<Real>(j) / (numY - 1) - 0.5),
                        field.heights()[static_cast<std::size_t>(j) * numX + i]});
      if (i + 1 == numX || j + 1 == numY) continue;
      const int corner = j * numX + i;
      addTriangle(corner, corner + 1, corner + numX + 1);
      addTriangle(corner, corner + numX + 1, corner + numX);
    }
}

void writeShapes(hid_t group, const Model& model) {
  ShapeTable table;
  for (int i = 0; i < model.numShapes(); ++i)
    table.add(i, model.bodyOfShape(i), *model.shape(i), model.shapePose(i));
  const Hdf5Handle shapes = makeGroup(group, "shapes");
  writeTexts(shapes.id(), "type", table.type, "kind of solid");
  writeArray(shapes.id(), "shape", table.shape, {}, "",
             "number of the shape, as in /contacts/shape1; parts of a compound share it");
  writeArray(shapes.id(), "body", table.body, {}, "", "index into /model/body_name");
  writeArray(shapes.id(), "rotation", table.rotation, {3, 3}, "", "shape to body, by rows");
  writeArray(shapes.id(), "position", table.position, {3}, "m", "in the body's frame");
  writeArray(shapes.id(), "size", table.size, {3}, "m",
             "radius; half sizes; radius and half length or half height; semi-axes");
  writeArray(shapes.id(), "vertices", table.vertices, {3}, "m", "in the shape's frame");
  writeArray(shapes.id(), "vertex_offset", table.vertexOffset, {}, "",
             "row i has the vertices from vertex_offset[i] to vertex_offset[i + 1]");
  writeArray(shapes.id(), "triangles", table.triangles, {3}, "",
             "indices into the vertices of the same row, counter-clockwise from outside");
  writeArray(shapes.id(), "triangle_offset", table.triangleOffset, {}, "",
             "row i has the triangles from triangle_offset[i] to triangle_offset[i + 1]");
}

/// What does not change of soft bodies; their vertices are numbered from 0 in each of them.
void writeSoftBodies(hid_t group, const Model& model) {
  std::vector<std::string> names;
  std::vector<Real> mass, vertices;
  std::vector<std::int32_t> tets, triangles;
  std::vector<std::uint64_t> vertexOffset{0}, tetOffset{0}, triangleOffset{0};
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const TetMesh& mesh = model.softMesh(i);
    names.emplace_back(model.softBodyName(i));
    mass.push_back(model.softMass(i));
    for (const Vec3& vertex : mesh.vertices()) append(vertices, vertex);
    for (const Tet& tet : mesh.tets()) tets.insert(tets.end(), tet.begin(), tet.end());
    for (const Triangle& t : mesh.surface()) triangles.insert(triangles.end(), t.begin(), t.end());
    vertexOffset.push_back(vertices.size() / 3);
    tetOffset.push_back(tets.size() / 4);
    triangleOffset.push_back(triangles.size() / 3);
  }
  const Hdf5Handle softs = makeGroup(group, "soft_bodies");
  writeTexts(softs.id(), "name", names, "the soft bodies, in the order of every other table");
  writeArray(softs.id(), "mass", mass, {}, "kg", "");
  writeArray(softs.id(), "vertices", vertices, {3}, "m", "at the start of the scene, world");
  writeArray(softs.id(), "vertex_offset", vertexOffset, {}, "",
             "soft body i has the vertices from vertex_offset[i] to vertex_offset[i + 1], here and "
             "in /soft_bodies/position");
  writeArray(softs.id(), "tetrahedra", tets, {4}, "", "of the soft body's own vertices, from 0");
  writeArray(softs.id(), "tetrahedron_offset", tetOffset, {}, "",
             "soft body i has the rows from tetrahedron_offset[i] to tetrahedron_offset[i + 1]");
  writeArray(softs.id(), "triangles", triangles, {3}, "",
             "of the surface, counter-clockwise from outside, of the soft body's own vertices");
  writeArray(softs.id(), "triangle_offset", triangleOffset, {}, "",
             "soft body i has the rows from triangle_offset[i] to triangle_offset[i + 1]");
}

void writeSensors(hid_t group, const Model& model) {
  std::vector<std::string> names;
  std::vector<std::uint64_t> offset;
  for (int i = 0; i < model.numSensors(); ++i) {
    names.push_back(model.sensor(i).name);
    offset.push_back(static_cast<std::uint64_t>(model.startOfSensor(i)));
  }
  offset.push_back(static_cast<std::uint64_t>(model.numSensorValues()));
  const Hdf5Handle sensors = makeGroup(group, "sensors");
  writeTexts(sensors.id(), "name", names, "the sensors, in the order of their readings");
  writeArray(sensors.id(), "value_offset", offset, {}, "",
             "sensor i has the columns from value_offset[i] to value_offset[i + 1] of "
             "/sensors/values");
}

}  // namespace

void writeText(hid_t object, const char* attribute, const std::string& text) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle type = textType();
  const Hdf5Handle created(
      H5Acreate2(object, attribute, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char* pointer = text.c_str();
  H5Awrite(created.id(), type.id(), static_cast<const void*>(&pointer));
}

void writeInteger(hid_t object, const char* attribute, int value) {
  writeAttribute<std::int32_t>(object, attribute, value);
}

void writeReal(hid_t object, const char* attribute, Real value) {
  writeAttribute<double>(object, attribute, value);
}

void writeModel(hid_t file, const Model& model) {
  const Hdf5Handle group = makeGroup(file, "model");
  writeAttribute<std::uint64_t>(group.id(), "hash", model.hash());
  std::vector<std::string> names, types;
  std::vector<Real> mass, center, inertia;
  for (int i = 0; i < model.numBodies(); ++i) {
    names.emplace_back(model.bodyName(i));
    types.emplace_back(bodyTypeName(model.bodyType(i)));
    const MassProperties& properties = model.massProperties(i);
    mass.push_back(properties.mass);
    append(center, properties.center);
    for (int row = 0; row < 3; ++row)
      append(inertia,
             {properties.inertia(row, 0), properties.inertia(row, 1), properties.inertia(row, 2)});
  }
  writeTexts(group.id(), "body_name", names, "the bodies, in the order of every other table");
  writeTexts(group.id(), "body_type", types, "dynamic, fixed or kinematic");
  writeArray(group.id(), "mass", mass, {}, "kg", "0 for bodies that no force moves");
  writeArray(group.id(), "center_of_mass", center, {3}, "m", "in the body's frame");
  writeArray(group.id(), "inertia", inertia, {3, 3}, "kg m^2",
             "about the centre of mass, in the body's frame");
  writeShapes(group.id(), model);
  if (model.numSoftBodies() > 0) writeSoftBodies(group.id(), model);
  if (model.numSensorValues() > 0) writeSensors(group.id(), model);
}

}  // namespace tangere::io
