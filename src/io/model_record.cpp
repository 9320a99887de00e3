// SPDX-License-Identifier: Apache-2.0
#include "io/model_record.hpp"

#include <tangere/recording.hpp>
#include <tangere/tet_mesh.hpp>

#include "model/model_data.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
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

// HDF5 has checksums of chunks, of less than 4 GB each, and none of what is stored in one piece.
constexpr hsize_t kMaxChunkBytes = hsize_t{64} << 20;

Hdf5Handle createDataset(hid_t group, const char* name, hid_t type,
                         const std::vector<hsize_t>& shape) {
  const int rank = static_cast<int>(shape.size());
  const Hdf5Handle space(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties.id(), false);
  hsize_t rowBytes = H5Tget_size(type);
  for (std::size_t i = 1; i < shape.size(); ++i) rowBytes *= shape[i];
  if (shape.front() > 0 && H5Tis_variable_str(type) == 0) {
    std::vector<hsize_t> chunk = shape;
    chunk.front() = std::clamp<hsize_t>(kMaxChunkBytes / rowBytes, 1, shape.front());
    H5Pset_chunk(properties.id(), rank, chunk.data());
    H5Pset_fletcher32(properties.id());
  }
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

constexpr std::size_t kMaxPaddedBytes = std::size_t{16} << 20;

void writeTexts(hid_t group, const char* name, const std::vector<std::string>& texts,
                const char* meaning) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  // HDF5 has no checksum for texts of any length and trusts the lengths it finds: a wrong bit ends
  // the program that reads them. Texts of one length, padded with zeros, are plain bytes. Where one
  // name is so long that this would be a waste, it is the lesser evil.
  const bool isPadded = longest <= kMaxPaddedBytes / std::max<std::size_t>(texts.size(), 1);
  const Hdf5Handle type = isPadded ? paddedTextType(longest) : textType();
  const Hdf5Handle dataset = createDataset(group, name, type.id(), {texts.size()});
  std::vector<const char*> pointers;
  std::string padded;
  for (const std::string& text : texts) {
    if (isPadded)
      padded.append(text).append(longest - text.size(), '\0');
    else
      pointers.push_back(text.c_str());
  }
  if (!texts.empty())
    H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
             isPadded ? static_cast<const void*>(padded.data()) : pointers.data());
  writeText(dataset.id(), "meaning", meaning);
}

void append(std::vector<Real>& list, const Vec3& v) { list.insert(list.end(), {v.x, v.y, v.z}); }

void addTriangles(std::vector<Triangle>& out, const Convex& hull) {
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    for (std::size_t k = 2; k < face.size(); ++k) out.push_back({face[0], face[k - 1], face[k]});
  }
}

void setTerrain(RecordedShape& out, const HeightField& field) {
  const int numX = field.numX(), numY = field.numY();
  for (int j = 0; j < numY; ++j)
    for (int i = 0; i < numX; ++i) {
      out.vertices.push_back({field.sizeX() * (static_cast<Real>(i) / (numX - 1) - 0.5),
                              field.sizeY() * (static_cast<Real>(j) / (numY - 1) - 0.5),
                              field.heights()[static_cast<std::size_t>(j) * numX + i]});
      if (i + 1 == numX || j + 1 == numY) continue;
      const int corner = j * numX + i;
      out.triangles.push_back({corner, corner + 1, corner + numX + 1});
      out.triangles.push_back({corner, corner + numX + 1, corner + numX});
    }
}

void setGeometry(RecordedShape& out, const Shape& geometry) {
  out.type = shapeTypeName(geometry.type());
  switch (geometry.type()) {
    case ShapeType::Sphere:
      out.size.x = static_cast<const Sphere&>(geometry).radius();
      break;
    case ShapeType::Box:
      out.size = static_cast<const Box&>(geometry).halfExtents();
      break;
    case ShapeType::Capsule:
      out.size.x = static_cast<const Capsule&>(geometry).radius();
      out.size.y = static_cast<const Capsule&>(geometry).halfLength();
      break;
    case ShapeType::Cylinder:
      out.size.x = static_cast<const Cylinder&>(geometry).radius();
      out.size.y = static_cast<const Cylinder&>(geometry).halfLength();
      break;
    case ShapeType::Cone:
      out.size.x = static_cast<const Cone&>(geometry).radius();
      out.size.y = static_cast<const Cone&>(geometry).halfHeight();
      break;
    case ShapeType::Ellipsoid:
      out.size = static_cast<const Ellipsoid&>(geometry).semiAxes();
      break;
    case ShapeType::Convex: {
      const auto& hull = static_cast<const Convex&>(geometry);
      out.vertices.assign(hull.vertices().begin(), hull.vertices().end());
      addTriangles(out.triangles, hull);
      break;
    }
    case ShapeType::Mesh: {
      const auto& mesh = static_cast<const Mesh&>(geometry);
      out.vertices.assign(mesh.vertices().begin(), mesh.vertices().end());
      out.triangles.assign(mesh.triangles().begin(), mesh.triangles().end());
      break;
    }
    case ShapeType::HeightField:
      setTerrain(out, static_cast<const HeightField&>(geometry));
      break;
    case ShapeType::PointCloud: {
      const auto& cloud = static_cast<const PointCloud&>(geometry);
      out.vertices.assign(cloud.points().begin(), cloud.points().end());
      out.size.x = cloud.pointRadius();
      break;
    }
    case ShapeType::Plane:
    case ShapeType::Compound:
      break;
  }
}

/// The children of a compound are shapes of their own.
void addShape(std::vector<RecordedShape>& out, const Shape& geometry, RecordedShape place) {
  if (geometry.type() == ShapeType::Compound) {
    for (const Compound::Child& child : static_cast<const Compound&>(geometry).children()) {
      RecordedShape own = place;
      own.pose = place.pose * child.pose;
      addShape(out, *child.shape, std::move(own));
    }
    return;
  }
  setGeometry(place, geometry);
  out.push_back(std::move(place));
}

void writeShapes(const Hdf5Handle& group, std::span<const RecordedShape> shapes) {
  std::vector<std::string> type;
  std::vector<std::int32_t> shape, body, triangles;
  std::vector<Real> rotation, position, size, vertices;
  std::vector<std::uint64_t> vertexOffset{0}, triangleOffset{0};
  for (const RecordedShape& row : shapes) {
    type.push_back(row.type);
    shape.push_back(row.shape);
    body.push_back(row.body);
    for (int i = 0; i < 3; ++i)
      append(rotation, {row.pose.rotation(i, 0), row.pose.rotation(i, 1), row.pose.rotation(i, 2)});
    append(position, row.pose.translation);
    append(size, row.size);
    for (const Vec3& vertex : row.vertices) append(vertices, vertex);
    for (const Triangle& t : row.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
    vertexOffset.push_back(vertices.size() / 3);
    triangleOffset.push_back(triangles.size() / 3);
  }
  writeTexts(group.id(), "type", type, "kind of solid");
  writeArray(group.id(), "shape", shape, {}, "",
             "number of the shape, as in /contacts/shape1; parts of a compound share it");
  writeArray(group.id(), "body", body, {}, "", "index into /model/body_name");
  writeArray(group.id(), "rotation", rotation, {3, 3}, "", "shape to body, by rows");
  writeArray(group.id(), "position", position, {3}, "m", "in the body's frame");
  writeArray(group.id(), "size", size, {3}, "m",
             "radius; half sizes; radius and half length or half height; semi-axes");
  writeArray(group.id(), "vertices", vertices, {3}, "m", "in the shape's frame");
  writeArray(group.id(), "vertex_offset", vertexOffset, {}, "",
             "row i has the vertices from vertex_offset[i] to vertex_offset[i + 1]");
  writeArray(group.id(), "triangles", triangles, {3}, "",
             "indices into the vertices of the same row, counter-clockwise from outside");
  writeArray(group.id(), "triangle_offset", triangleOffset, {}, "",
             "row i has the triangles from triangle_offset[i] to triangle_offset[i + 1]");
}

/// Only where there are some: as shapes, with a colour each.
void writeVisuals(hid_t group, std::span<const RecordedShape> visuals) {
  if (visuals.empty()) return;
  const Hdf5Handle shapes = makeGroup(group, "visuals");
  writeShapes(shapes, visuals);
  std::vector<Real> color;
  for (const RecordedShape& visual : visuals)
    color.insert(color.end(), visual.color.begin(), visual.color.end());
  writeArray(shapes.id(), "color", color, {4}, "", "red, green, blue (sRGB), opacity");
}

/// Who holds whom, and by which joints.
void writeJoints(hid_t group, const Model& model) {
  std::vector<std::int32_t> parent, body;
  std::vector<std::string> name, type;
  std::vector<Real> position, axis;
  for (int i = 0; i < model.numBodies(); ++i) parent.push_back(model.parentOf(i));
  for (int i = 0; i < model.numJoints(); ++i) {
    const Joint& joint = model.joint(i);
    if (joint.type == JointType::Free) continue;
    name.push_back(joint.name);
    type.emplace_back(jointTypeName(joint.type));
    body.push_back(model.bodyOfJoint(i));
    append(position, joint.position);
    append(axis, joint.axis);
  }
  writeArray(group, "body_parent", parent, {}, "", "index into /model/body_name; -1: the world");
  const Hdf5Handle joints = makeGroup(group, "joints");
  writeTexts(joints.id(), "name", name, "the joints in order of their coordinates, not free ones");
  writeTexts(joints.id(), "type", type, "revolute, prismatic, ball and so on");
  writeArray(joints.id(), "body", body, {}, "", "the body it moves: index into /model/body_name");
  writeArray(joints.id(), "position", position, {3}, "m", "in the frame of that body");
  writeArray(joints.id(), "axis", axis, {3}, "", "in the frame of that body");
}

/// What does not change of soft bodies; their vertices are numbered from 0 in each of them.
void writeSoftBodies(hid_t group, const Model& model) {
  std::vector<std::string> names;
  std::vector<Real> mass, vertices, young, poisson;
  std::vector<std::string> law;
  std::vector<std::int32_t> tets, triangles;
  std::vector<std::uint64_t> vertexOffset{0}, tetOffset{0}, triangleOffset{0};
  for (int i = 0; i < model.numSoftBodies(); ++i) {
    const TetMesh& mesh = model.softMesh(i);
    names.emplace_back(model.softBodyName(i));
    mass.push_back(model.softMass(i));
    const Elasticity& elasticity = model.data().softs[i].elastic.elasticity;
    law.emplace_back(elasticModelName(elasticity.model));
    young.push_back(elasticity.young);
    poisson.push_back(elasticity.poisson);
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
  writeTexts(softs.id(), "elastic_model", law, "linear, corotated, neo_hookean or stvk");
  writeArray(softs.id(), "young", young, {}, "Pa", "modulus of elasticity");
  writeArray(softs.id(), "poisson", poisson, {}, "", "ratio of Poisson");
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

void writePaddedText(hid_t object, const char* attribute, const std::string& text) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle type = paddedTextType(text.size());
  const Hdf5Handle created(
      H5Acreate2(object, attribute, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  H5Awrite(created.id(), type.id(), text.data());
}

void writeInteger(hid_t object, const char* attribute, int value) {
  writeAttribute<std::int32_t>(object, attribute, value);
}

void writeReal(hid_t object, const char* attribute, Real value) {
  writeAttribute<double>(object, attribute, value);
}

void writeModel(hid_t file, const Model& model, std::span<const VisualShape> visuals) {
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
  writeShapes(makeGroup(group.id(), "shapes"), recordedShapes(model));
  writeVisuals(group.id(), recordedVisuals(model, visuals));
  writeJoints(group.id(), model);
  if (model.numSoftBodies() > 0) writeSoftBodies(group.id(), model);
  if (model.numSensorValues() > 0) writeSensors(group.id(), model);
}

}  // namespace tangere::io

namespace tangere {

std::vector<RecordedShape> recordedShapes(const Model& model) {
  std::vector<RecordedShape> out;
  for (int i = 0; i < model.numShapes(); ++i) {
    RecordedShape place;
    place.shape = i;
    place.body = model.bodyOfShape(i);
    place.pose = model.shapePose(i);
    io::addShape(out, *model.shape(i), std::move(place));
  }
  return out;
}

std::vector<RecordedShape> recordedVisuals(const Model& model,
                                           std::span<const VisualShape> visuals) {
  std::vector<RecordedShape> out;
  for (const VisualShape& visual : visuals) {
    RecordedShape place;
    place.body = visual.body.empty() ? -1 : model.findBody(visual.body);
    if (place.body < 0 && !visual.body.empty()) continue;
    place.pose = visual.pose;
    place.color = visual.color;
    if (visual.shape != nullptr) {
      io::addShape(out, *visual.shape, std::move(place));
    } else if (visual.mesh != nullptr) {
      place.type = shapeTypeName(ShapeType::Mesh);
      place.vertices = visual.mesh->vertices;
      place.triangles = visual.mesh->triangles;
      out.push_back(std::move(place));
    }
  }
  return out;
}

}  // namespace tangere
