// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_assets.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/xml_reader.hpp"
#include "math/quat.hpp"
#include "math/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tangere::io {

namespace {

using namespace mjcf_rule;

struct Facet {
  Vec3 center{};
  Vec3 normal{};  // unit; zero for a triangle without area
  Real area = 0;
};

Facet facetOf(const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 product = cross(b - a, c - a);
  const Real twice = norm(product);
  return {(a + b + c) / 3, twice > 0 ? product / twice : Vec3{}, twice / 2};
}

std::vector<Triangle> trianglesOf(const Convex& hull) {
  std::vector<Triangle> out;
  for (int f = 0; f < hull.numFaces(); ++f) {
    const std::span<const int> face = hull.face(f);
    for (std::size_t i = 2; i < face.size(); ++i) out.push_back({face[0], face[i - 1], face[i]});
  }
  return out;
}

/// MuJoCo's integrals, for density 1. Pyramids from a point to each triangle: from the centroid of
/// the surface for the centre of mass, from that centre for the inertia. "Legacy" counts every
/// pyramid as positive, which is right for convex meshes alone.
MassProperties integrate(std::span<const Vec3> vertices, std::span<const Triangle> triangles,
                         MjcfMesh::Inertia kind) {
  const bool isShell = kind == MjcfMesh::Inertia::Shell;
  const auto weightOf = [&](const Facet& facet, const Vec3& apex) {
    if (isShell) return facet.area;
    const Real volume = dot(facet.center - apex, facet.normal) * facet.area / 3;
    return kind == MjcfMesh::Inertia::Legacy ? std::fabs(volume) : volume;
  };
  const auto corner = [&](const Triangle& triangle, int k) {
    return vertices[static_cast<std::size_t>(triangle[static_cast<std::size_t>(k)])];
  };
  Vec3 centroid{};
  Real area = 0;
  for (const Triangle& t : triangles) {
    const Facet facet = facetOf(corner(t, 0), corner(t, 1), corner(t, 2));
    centroid += facet.center * facet.area;
    area += facet.area;
  }
  if (!(area > 0)) return {};
  centroid = centroid / area;

  MassProperties out;
  Real total = 0;
  for (const Triangle& t : triangles) {
    const Facet facet = facetOf(corner(t, 0), corner(t, 1), corner(t, 2));
    const Real weight = weightOf(facet, centroid);
    total += weight;
    out.center +=
        (isShell ? facet.center : facet.center * Real(0.75) + centroid * Real(0.25)) * weight;
  }
  if (!(total > 0)) return {};
  out.center = out.center / total;

  Mat3 second{};  // of x x^T
  for (const Triangle& t : triangles) {
    const Vec3 p[3] = {corner(t, 0) - out.center, corner(t, 1) - out.center,
                       corner(t, 2) - out.center};
    const Real weight = weightOf(facetOf(p[0], p[1], p[2]), Vec3{});
    out.mass += weight;
    const Vec3 sum = p[0] + p[1] + p[2];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        Real products = sum[i] * sum[j];
        for (const Vec3& v : p) products += v[i] * v[j];
        second(i, j) += weight * products / (isShell ? 12 : 20);
      }
    }
  }
  const Real trace = second(0, 0) + second(1, 1) + second(2, 2);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out.inertia(i, j) = (i == j ? trace : 0) - second(i, j);
  }
  return out;
}

std::string stemOf(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace

Mat3 throughPrincipalAxes(const Mat3& inertia) {
  constexpr Real kLastCosine = 1 - 1e-13;
  // MuJoCo's bound has no scale; that of the size keeps it from spoiling the inertia of small
  // parts.
  const Real size = std::fabs(inertia(0, 0)) + std::fabs(inertia(1, 1)) + std::fabs(inertia(2, 2));
  const Real smallest = std::fmin(Real(1e-17), Real(1e-6) * size);
  constexpr int kMaxRotations = 500;
  Mat3 axes = Mat3::identity(), turned = inertia;
  for (int i = 0; i < kMaxRotations; ++i) {
    turned = transposeTimes(axes, inertia * axes);
    const Real xy = std::fabs(turned(0, 1)), xz = std::fabs(turned(0, 2)),
               yz = std::fabs(turned(1, 2));
    const int row = (xy > xz && xy > yz) || xz > yz ? 0 : 1;
    const int column = xy > xz && xy > yz ? 1 : 2;
    const Real off = turned(row, column);
    if (!(std::fabs(off) >= smallest) || off == 0) break;
    const Real tau = (turned(column, column) - turned(row, row)) / (2 * off);
    const Real root = std::sqrt(1 + tau * tau);
    const Real tangent = tau >= 0 ? 1 / (tau + root) : -1 / (-tau + root);
    const Real cosine = 1 / std::sqrt(1 + tangent * tangent), sine = tangent * cosine;
    if (cosine > kLastCosine) break;
    const Vec3 first = axes.col[row], second = axes.col[column];
    axes.col[row] = first * cosine - second * sine;
    axes.col[column] = first * sine + second * cosine;
  }
  Mat3 out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out(i, j) = 0;
      for (int k = 0; k < 3; ++k) out(i, j) += axes(i, k) * turned(k, k) * axes(j, k);
    }
  }
  return out;
}

void MjcfAssets::read(const XmlElement& section) {
  section.isRead = true;
  for (const XmlElement& child : section.children) {
    if (child.name == "mesh") {
      readMesh(child);
    } else if (child.name == "hfield") {
      readHeightField(child);
    } else if (child.name == "model") {
      child.isRead = true;
      import_.notes.addIn(*child.file, ImportNote::Kind::Error, child.place,
                          "model: models inside models are not available in this version; place "
                          "them as [[model]] of a native scene");
    }
    // Textures, materials and skins are looks: reported as unread.
    if (child.name == "material") {
      const XmlAttribute* name = peekAttribute(child, "name");
      const XmlAttribute* color = peekAttribute(child, "rgba");
      const auto rgba = color != nullptr ? readRgba(color->value) : std::nullopt;
      if (name != nullptr && rgba) colors_.emplace(name->value, *rgba);
    }
  }
}

void MjcfAssets::readMesh(const XmlElement& element) {
  XmlReader reader(import_.notes, element, "mesh");
  MeshEntry entry;
  entry.element = &element;
  entry.file = reader.string("file").value_or("");
  std::string name = reader.string("name").value_or(stemOf(entry.file));
  reader.setWho("mesh " + io::quoted(name));
  if (name.empty()) {
    reader.error(reader.place(), "name is missing, expected a name or a file");
    return;
  }
  const std::string className = reader.string("class").value_or("main");
  const MjcfClass* settings = defaults_.find(className);
  if (settings == nullptr) {
    reader.errorFound("class",
                      "a default class" + candidates(className.substr(0, 64), defaults_.names()));
    return;
  }
  entry.settings = settings->mesh;
  readMjcfMesh(reader, &entry.settings);
  entry.offset = reader.vec3("refpos", kPosition).value_or(Vec3{});
  if (const auto q = reader.numbers("refquat", 4, 4, kFinite)) {
    entry.turn = rotationMatrix(Quat{(*q)[0], (*q)[1], (*q)[2], (*q)[3]});
    if (!std::isfinite(entry.turn.col[0].x)) {
      reader.errorFound("refquat", "a quaternion other than zero");
      entry.turn = Mat3::identity();
    }
  }
  reader.refuse("builtin",
                "meshes made by MuJoCo are not available in this version; save the mesh "
                "to a file");
  reader.ignore({"content_type"}, "the name of the file tells its format");
  if (element.child("plugin") != nullptr)
    reader.error(element.child("plugin")->place, "plugins are not available in this version");

  const std::size_t maxTriangles = import_.limits.mesh.maxTriangles;
  if (const auto numbers = reader.numbers("vertex", 0, 9 * maxTriangles, kPosition)) {
    if (numbers->size() % 3 != 0 || numbers->size() < 12)
      reader.errorFound("vertex", "three numbers for each of at least four vertices");
    for (std::size_t i = 0; i + 2 < numbers->size(); i += 3)
      entry.vertices.push_back({(*numbers)[i], (*numbers)[i + 1], (*numbers)[i + 2]});
  }
  if (const auto numbers =
          reader.numbers("face", 0, 3 * maxTriangles,
                         {0, static_cast<Real>(std::max<std::size_t>(entry.vertices.size(), 1) - 1),
                          "indices of vertices of the mesh, from 0"})) {
    const bool isWhole =
        std::all_of(numbers->begin(), numbers->end(), [](Real x) { return x == std::floor(x); });
    if (numbers->size() % 3 != 0 || !isWhole)
      reader.errorFound("face", "three indices for each triangle");
    for (std::size_t i = 0; i + 2 < numbers->size(); i += 3)
      entry.triangles.push_back({static_cast<int>((*numbers)[i]),
                                 static_cast<int>((*numbers)[i + 1]),
                                 static_cast<int>((*numbers)[i + 2])});
  }
  if (entry.file.empty() == !reader.has("vertex") && !reader.has("builtin"))
    reader.error(reader.place(), "found " + std::string(entry.file.empty() ? "neither" : "both") +
                                     " file and vertex, expected one of them");
  if (!meshes_.emplace(name, std::move(entry)).second)
    reader.error(reader.place(), "found the name twice, expected one that no other mesh has");
}

std::filesystem::path MjcfAssets::resolve(const std::string& file) const {
  std::filesystem::path path(file);
  if (compiler_.stripsPath) path = path.filename();
  if (!compiler_.meshFolder.empty() && !path.is_absolute())
    path = std::filesystem::path(compiler_.meshFolder) / path;
  return import_.files.resolve(path.string());
}

std::optional<Rgba> MjcfAssets::colorOf(const std::string& material) const {
  const auto found = colors_.find(material);
  if (found == colors_.end()) return std::nullopt;
  return found->second;
}

bool MjcfAssets::lookOf(const std::string& mesh, VisualShape* out) const {
  const auto found = meshes_.find(mesh);
  if (found == meshes_.end()) return false;
  const MeshEntry& entry = found->second;
  const Vec3& scale = entry.settings.scale;
  // In the frame of the geom a vertex is scale * turn^T (v - offset), in this order: a scale that
  // differs by axis and a turn do not make a scale and a pose.
  const bool isTurned = !(entry.turn == Mat3::identity());
  if (isTurned && !(scale.x == scale.y && scale.y == scale.z)) return false;
  const Mat3 turn = transpose(entry.turn);
  const Vec3 shift = turn * entry.offset;
  out->pose =
      out->pose * Transform{turn, Vec3{-shift.x * scale.x, -shift.y * scale.y, -shift.z * scale.z}};
  if (entry.file.empty()) {
    if (entry.triangles.empty()) return false;
    TriangleMesh own{entry.vertices, entry.triangles};
    for (Vec3& v : own.vertices) v = {v.x * scale.x, v.y * scale.y, v.z * scale.z};
    out->mesh = std::make_shared<const TriangleMesh>(std::move(own));
    return true;
  }
  try {
    out->file = resolve(entry.file);
  } catch (const InvalidInput&) {
    return false;
  }
  out->scale = scale;
  return true;
}

/// The mesh in the frame of the geom; false after an error in the notes.
bool MjcfAssets::load(MeshEntry& entry, const std::string& name) {
  if (entry.isLoaded) return !entry.hasFailed;
  entry.isLoaded = true;
  entry.hasFailed = true;
  const XmlElement& element = *entry.element;
  const XmlAttribute* attribute = element.attribute(entry.file.empty() ? "vertex" : "file");
  const Place place = attribute != nullptr ? attribute->valuePlace : element.place;
  const std::string who = "mesh " + io::quoted(name) + ": ";
  try {
    if (entry.file.empty()) {
      entry.mesh = {entry.vertices, entry.triangles};
    } else {
      const ModelFiles::MeshFile& file = import_.files.readMesh(resolve(entry.file), entry.file);
      entry.mesh = file.mesh;
      for (const std::string& what : file.ignored)
        import_.notes.addIn(*element.file, ImportNote::Kind::Ignored, place, who + what);
    }
    for (Vec3& v : entry.mesh.vertices) {
      v = transposeTimes(entry.turn, v - entry.offset);
      v = {v.x * entry.settings.scale.x, v.y * entry.settings.scale.y,
           v.z * entry.settings.scale.z};
    }
    const Vec3& s = entry.settings.scale;
    if ((s.x < 0) != ((s.y < 0) != (s.z < 0))) {  // a reflection turns the triangles
      for (Triangle& t : entry.mesh.triangles) std::swap(t[1], t[2]);
    }
    if (entry.mesh.triangles.empty()) {  // points alone: their hull
      auto hull = std::make_shared<Convex>(entry.mesh.vertices);
      entry.mesh.vertices.assign(hull->vertices().begin(), hull->vertices().end());
      entry.mesh.triangles = trianglesOf(*hull);
      entry.hull = std::move(hull);
    }
    entry.hasFailed = false;
    return true;
  } catch (const LimitExceeded& error) {
    import_.notes.limitIn(*element.file, place, who + error.what());
  } catch (const InvalidInput& error) {
    import_.notes.addIn(*element.file, ImportNote::Kind::Error, place, who + error.what());
  }
  return false;
}

const Shape* MjcfAssets::makeHull(MeshEntry& entry, const std::string& name) {
  if (!load(entry, name)) return nullptr;
  if (entry.hull != nullptr) return entry.hull.get();
  try {
    entry.hull = std::make_shared<Convex>(entry.mesh.vertices);
  } catch (const InvalidInput& error) {
    entry.hasFailed = true;
    import_.notes.addIn(*entry.element->file, ImportNote::Kind::Error, entry.element->place,
                        "mesh " + io::quoted(name) + ": " + error.what());
  }
  return entry.hull.get();
}

std::shared_ptr<const Shape> MjcfAssets::hull(const std::string& mesh) {
  MeshEntry& entry = meshes_.at(mesh);
  const Shape* shape = makeHull(entry, mesh);
  if (shape == nullptr) return nullptr;
  if (!entry.isHullReported) {
    entry.isHullReported = true;
    const auto numVertices = static_cast<const Convex*>(shape)->vertices().size();
    import_.notes.addIn(*entry.element->file, ImportNote::Kind::Changed, entry.element->place,
                        "mesh " + io::quoted(mesh) +
                            ": hulled: " + std::to_string(entry.mesh.triangles.size()) +
                            " triangles collide as their convex hull of " +
                            std::to_string(numVertices) + " vertices, as in MuJoCo");
  }
  return entry.hull;
}

std::optional<MassProperties> MjcfAssets::massProperties(const std::string& mesh,
                                                         std::optional<Real> mass, Real density) {
  MeshEntry& entry = meshes_.at(mesh);
  if (!load(entry, mesh)) return std::nullopt;
  const MjcfMesh::Inertia kind = entry.settings.inertia;
  const auto fail = [&](const std::string& message) {
    entry.hasFailed = true;
    import_.notes.addIn(*entry.element->file, ImportNote::Kind::Error, entry.element->place,
                        "mesh " + io::quoted(mesh) + ": " + message);
    return std::nullopt;
  };
  const bool isNew = !entry.unitMass;
  if (isNew) {
    if (kind == MjcfMesh::Inertia::Convex) {
      const auto* hullShape = static_cast<const Convex*>(makeHull(entry, mesh));
      if (hullShape == nullptr) return std::nullopt;
      entry.unitMass = integrate(hullShape->vertices(), trianglesOf(*hullShape), kind);
    } else {
      if (kind == MjcfMesh::Inertia::Exact) {
        const MeshReport report = inspectMesh(weldVertices(entry.mesh));
        if (!report.isWatertight() || !report.isConsistentlyOriented())
          return fail(
              "found inertia=\"exact\" of a mesh that is no closed solid, expected a "
              "watertight one; inertia=\"convex\" takes its hull");
      }
      entry.unitMass = integrate(entry.mesh.vertices, entry.mesh.triangles, kind);
    }
  }
  if (isNew) entry.unitMass->inertia = throughPrincipalAxes(entry.unitMass->inertia);
  const MassProperties& unit = *entry.unitMass;
  constexpr Real kTooSmall = 1e-15;  // MuJoCo's bound
  if (!(unit.mass > kTooSmall))
    return fail("found a volume of " + std::string(unit.mass < 0 ? "less than 0" : "almost 0") +
                ", expected triangles that face outward and enclose a volume; inertia=\"shell\" "
                "takes the surface");
  const Real factor = mass ? *mass / unit.mass : density;
  MassProperties out = unit;
  out.mass *= factor;
  for (Vec3& column : out.inertia.col) column *= factor;
  return out;
}

bool MjcfAssets::fit(MjcfGeom* geom) {
  const std::optional<MassProperties> unit = massProperties(geom->mesh, std::nullopt, 1);
  if (!unit) return false;
  Real a[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = unit->inertia(i, j);
  }
  // The largest moment first: the mesh is longest along z.
  const math::SymmetricEigen<Real, 3> eigen = math::symmetricEigen(a);
  Transform frame{Mat3::identity(), unit->center};
  for (int k = 0; k < 2; ++k)
    frame.rotation.col[k] = {eigen.vectors[0][2 - k], eigen.vectors[1][2 - k],
                             eigen.vectors[2][2 - k]};
  frame.rotation.col[2] = cross(frame.rotation.col[0], frame.rotation.col[1]);

  Vec3 half;
  const Real moments[3] = {eigen.values[2], eigen.values[1], eigen.values[0]};
  if (compiler_.fitsBounds) {
    const std::vector<Vec3>& vertices = meshes_.at(geom->mesh).mesh.vertices;
    Aabb bounds{inverseTimes(frame, vertices[0]), inverseTimes(frame, vertices[0])};
    for (const Vec3& v : vertices) bounds.merge(inverseTimes(frame, v));
    half = bounds.halfExtents();
    frame.translation = frame * bounds.center();
  } else {
    for (int k = 0; k < 3; ++k) {
      const Real square = moments[(k + 1) % 3] + moments[(k + 2) % 3] - moments[k];
      half[k] = std::sqrt(std::fmax(square, Real(0)) * 6 / unit->mass) / 2;
    }
  }
  std::array<Real, 3>& size = geom->size;
  const bool isCapsule = geom->type == MjcfGeomType::Capsule;
  switch (geom->type) {
    case MjcfGeomType::Sphere:
      size[0] = compiler_.fitsBounds ? std::fmax(half.x, std::fmax(half.y, half.z))
                                     : (half.x + half.y + half.z) / 3;
      break;
    case MjcfGeomType::Capsule:
    case MjcfGeomType::Cylinder:
      size[0] = compiler_.fitsBounds ? std::fmax(half.x, half.y) : (half.x + half.y) / 2;
      size[1] = half.z;
      if (isCapsule)
        size[1] = std::fmax(size[1] - size[0] / (compiler_.fitsBounds ? 1 : 2), Real(0));
      break;
    default:
      size = {half.x, half.y, half.z};
  }
  for (Real& s : size) s *= geom->fitScale;
  const Transform pose = Transform{geom->rotation, geom->position} * frame;
  geom->rotation = pose.rotation;
  geom->position = pose.translation;
  return true;
}

void MjcfAssets::readHeightField(const XmlElement& element) {
  XmlReader reader(import_.notes, element, "hfield");
  const std::string file = reader.string("file").value_or("");
  const std::string name = reader.string("name").value_or(stemOf(file));
  reader.setWho("hfield " + io::quoted(name));
  if (name.empty()) {
    reader.error(reader.place(), "name is missing, expected a name or a file");
    return;
  }
  if (!fields_.emplace(name, nullptr).second) {
    reader.error(reader.place(), "found the name twice, expected one that no other hfield has");
    return;
  }
  reader.ignore({"content_type"}, "the name of the file tells its format");
  const auto size = reader.numbers("size", 4, 4, {0, 1e12, "four sizes above 0 [m]", true});
  if (!reader.has("size"))
    reader.error(reader.place(), "size is missing, expected radius x, radius y, height and base");
  int numRows =
      static_cast<int>(reader.integer("nrow", 0, 1'000'000, "a number of rows").value_or(0));
  int numColumns =
      static_cast<int>(reader.integer("ncol", 0, 1'000'000, "a number of columns").value_or(0));
  std::vector<Real> heights;
  const auto numCells = static_cast<std::size_t>(numRows) * static_cast<std::size_t>(numColumns);
  if (numCells > import_.limits.mesh.maxTriangles / 2) {
    reader.limit(reader.placeOf("nrow"), "found more cells than the limit of triangles allows");
    return;
  }
  if (!file.empty()) {
    if (numRows != 0 || numColumns != 0)
      reader.error(reader.placeOf("file"), "found nrow or ncol beside a file, which has its own");
    if (!readHeightFile(reader, file, &numRows, &numColumns, &heights)) return;
  } else {
    if (numRows < 2 || numColumns < 2) {
      reader.error(reader.place(),
                   "found fewer than 2 rows or columns, expected nrow and ncol of 2 "
                   "or more, or a file");
      return;
    }
    heights.assign(numCells, 0);
    if (const auto given = reader.numbers("elevation", numCells, numCells, kFinite)) {
      // The first row of the text is the farthest along y.
      const auto width = static_cast<std::size_t>(numColumns);
      const auto rows = static_cast<std::size_t>(numRows);
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(given->begin() + static_cast<std::ptrdiff_t>(r * width), width,
                    heights.begin() + static_cast<std::ptrdiff_t>((rows - 1 - r) * width));
      }
    }
  }
  if (!size) return;
  // Heights count from the lowest and reach the given height: what the numbers are does not matter.
  const auto [lowest, highest] = std::minmax_element(heights.begin(), heights.end());
  const Real lower = *lowest, span = *highest - *lowest;
  for (Real& h : heights) h = (h - lower) / (span > 0 ? span : Real(1)) * (*size)[2];
  try {
    fields_[name] =
        std::make_shared<HeightField>(numColumns, numRows, 2 * (*size)[0], 2 * (*size)[1], heights);
  } catch (const InvalidInput& error) {
    reader.error(reader.place(), error.what());
  }
}

/// MuJoCo's own format: rows and columns as 32-bit integers, then the heights as floats.
bool MjcfAssets::readHeightFile(XmlReader& reader, const std::string& file, int* numRows,
                                int* numColumns, std::vector<Real>* heights) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".png" || extension == ".PNG") {
    reader.errorFound("file",
                      "heights as elevation=\"...\" or in MuJoCo's binary format: PNG "
                      "pictures are not available in this version");
    return false;
  }
  try {
    const std::string bytes = readRegularFile(resolve(file), file, import_.limits.mesh.maxBytes);
    std::int32_t counts[2] = {0, 0};
    if (bytes.size() >= sizeof counts) std::memcpy(counts, bytes.data(), sizeof counts);
    const auto expected = 8 + std::uint64_t{4} *
                                  static_cast<std::uint64_t>(std::max(counts[0], 0)) *
                                  static_cast<std::uint64_t>(std::max(counts[1], 0));
    if (counts[0] < 2 || counts[1] < 2 || bytes.size() != expected) {
      reader.errorFound("file",
                        "rows and columns of 2 or more as 32-bit integers, then as many "
                        "32-bit floats");
      return false;
    }
    *numRows = counts[0];
    *numColumns = counts[1];
    heights->resize((bytes.size() - 8) / 4);
    for (std::size_t i = 0; i < heights->size(); ++i) {
      float value = 0;
      std::memcpy(&value, bytes.data() + 8 + 4 * i, 4);
      if (!std::isfinite(value)) {
        reader.errorFound("file", "finite heights");
        return false;
      }
      (*heights)[i] = static_cast<Real>(value);
    }
    return true;
  } catch (const LimitExceeded& error) {
    reader.limit(reader.placeOf("file"), error.what());
  } catch (const InvalidInput& error) {
    reader.error(reader.placeOf("file"), error.what());
  }
  return false;
}

std::shared_ptr<const Shape> MjcfAssets::heightField(const std::string& name) {
  return fields_.at(name);
}

std::vector<std::string> MjcfAssets::meshNames() const {
  std::vector<std::string> out;
  out.reserve(meshes_.size());
  for (const auto& [name, entry] : meshes_) out.push_back(name);
  return out;
}

std::vector<std::string> MjcfAssets::heightFieldNames() const {
  std::vector<std::string> out;
  out.reserve(fields_.size());
  for (const auto& [name, shape] : fields_) out.push_back(name);
  return out;
}

void MjcfAssets::reportUnused() {
  for (const auto& [name, entry] : meshes_) {
    if (entry.isLoaded) continue;
    import_.notes.addIn(*entry.element->file, ImportNote::Kind::Ignored, entry.element->place,
                        "mesh " + io::quoted(name) +
                            ": neither collisions nor masses need it; its file was not opened");
  }
}

}  // namespace tangere::io
