// SPDX-License-Identifier: Apache-2.0
//
// COLLADA 1.4 and 1.5: the triangles of a scene as one mesh. What is asked of a file: geometries of
// triangles and polygons, and the nodes that place them.
#include <tangere/error.hpp>
#include <tangere/io.hpp>
#include <tangere/limit_exceeded.hpp>

#include "core/elementary.hpp"
#include "io/text.hpp"
#include "io/xml_document.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

namespace tangere {

namespace {

using io::XmlElement;

constexpr Real kDegree = 0.017453292519943295769236907684886;
constexpr std::size_t kMostNodes = 100'000;  ///< placed ones: nodes may contain each other's copies
constexpr int kDeepest = 64;                 ///< copies within copies

bool isIn(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Where a node is: x -> linear x + shift, which may stretch and mirror.
struct Placement {
  Mat3 linear = Mat3::identity();
  Vec3 shift{};
  [[nodiscard]] Vec3 operator()(const Vec3& x) const { return linear * x + shift; }
};

Placement operator*(const Placement& a, const Placement& b) {
  return {a.linear * b.linear, a.linear * b.shift + a.shift};
}

class ColladaReader {
 public:
  ColladaReader(std::string_view text, std::string_view name, const MeshReadLimits& limits)
      : name_(name), limits_(limits), root_(parse(text)) {}

  TriangleMesh read();

 private:
  /// One list of numbers with the way to step through it.
  struct Source {
    std::vector<Real> values{};
    std::size_t offset = 0, stride = 3, count = 0;
  };
  struct Instance {
    const XmlElement* node;
    Placement placement;
    int depth;
  };

  [[nodiscard]] XmlElement parse(std::string_view text) const;
  void listIds();
  void placeScene();
  void placeNode(const Instance& at, std::vector<Instance>* left);
  [[nodiscard]] Placement placementOf(const XmlElement& transform) const;
  void addGeometry(const XmlElement& geometry, const Placement& placement);
  void addPrimitive(const XmlElement& primitive, const Placement& placement);
  void addPolygon(std::size_t first, std::size_t count, bool isStrip);
  [[nodiscard]] Source positionsOf(const XmlElement& input) const;
  [[nodiscard]] const XmlElement* target(const XmlElement& element, const char* key) const;
  template <class Number>
  [[nodiscard]] std::vector<Number> numbersOf(const XmlElement& element) const;
  [[nodiscard]] std::size_t sizeOf(const XmlElement& element, const char* key,
                                   std::size_t otherwise) const;
  [[noreturn]] void refuse(const XmlElement& element, const std::string& message) const;

  std::string name_;
  MeshReadLimits limits_;
  XmlElement root_;
  std::map<std::string, const XmlElement*> ids_;
  TriangleMesh mesh_;
  std::vector<int> corners_;  ///< of the primitive at hand: vertices of the mesh
  bool isMirrored_ = false;   ///< its placement turns triangles inside out
};

TriangleMesh ColladaReader::read() {
  if (root_.name != "COLLADA") refuse(root_, "found <" + root_.name + ">, expected <COLLADA>");
  listIds();
  placeScene();
  if (mesh_.triangles.empty()) throw InvalidInput(name_ + ": no triangles in this COLLADA file");
  return weldVertices(mesh_);
}

XmlElement ColladaReader::parse(std::string_view text) const {
  try {
    return io::parseXml(text, name_, {.maxBytes = limits_.maxBytes});
  } catch (const io::XmlError& error) {
    const std::string message = name_ + ":" + std::to_string(error.place().line) + ":" +
                                std::to_string(error.place().column) + ": " + error.what();
    if (error.isLimit()) throw LimitExceeded(message);
    throw InvalidInput(message);
  }
}

void ColladaReader::listIds() {
  std::vector<const XmlElement*> left{&root_};
  while (!left.empty()) {
    const XmlElement& element = *left.back();
    left.pop_back();
    if (const io::XmlAttribute* id = element.attribute("id")) ids_.emplace(id->value, &element);
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      left.push_back(&*child);
  }
}

/// The visual scene that the file shows, the first one where it shows none, or, without any, all
/// geometries as they are.
void ColladaReader::placeScene() {
  Placement world;
  std::string up = "Y_UP";
  if (const XmlElement* asset = root_.child("asset")) {
    if (const XmlElement* axis = asset->child("up_axis")) up = axis->text;
    if (const XmlElement* unit = asset->child("unit")) {
      if (const io::XmlAttribute* meter = unit->attribute("meter")) {
        const Real size = io::parseNumber(meter->value, name_,
                                          static_cast<std::size_t>(meter->place.line), "a unit");
        if (!(size > 0))
          refuse(*unit,
                 "found the unit " + io::quoted(meter->value) + ", expected one above 0 [m]");
        for (Vec3& column : world.linear.col) column *= size;
      }
    }
  }
  const Mat3 fromY{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};   // columns: y up to z up
  const Mat3 fromX{{{0, 0, 1}, {-1, 0, 0}, {0, -1, 0}}};  // x up, y to the left
  if (up == "Y_UP") world.linear = fromY * world.linear;
  if (up == "X_UP") world.linear = fromX * world.linear;

  const XmlElement* scene = nullptr;
  if (const XmlElement* shown = root_.child("scene")) {
    if (const XmlElement* instance = shown->child("instance_visual_scene"))
      scene = target(*instance, "url");
  }
  if (scene == nullptr) {
    if (const XmlElement* library = root_.child("library_visual_scenes"))
      scene = library->child("visual_scene");
  }
  if (scene == nullptr) {
    const XmlElement* library = root_.child("library_geometries");
    if (library == nullptr) return;
    for (const XmlElement& geometry : library->children) addGeometry(geometry, world);
    return;
  }
  std::vector<Instance> left{{scene, world, 0}};
  for (std::size_t placed = 0; !left.empty(); ++placed) {
    if (placed > kMostNodes) {
      throw LimitExceeded(name_ + ": more than " + std::to_string(kMostNodes) +
                          " nodes, the limit");
    }
    const Instance at = left.back();
    left.pop_back();
    placeNode(at, &left);
  }
}

void ColladaReader::placeNode(const Instance& at, std::vector<Instance>* left) {
  Placement placement = at.placement;
  std::vector<Instance> below;
  for (const XmlElement& child : at.node->children) {
    const std::string& kind = child.name;
    if (isIn(kind, {"matrix", "translate", "rotate", "scale"})) {
      placement = placement * placementOf(child);
    } else if (isIn(kind, {"lookat", "skew"})) {
      refuse(child, "found <" + kind + ">, expected matrix, translate, rotate or scale");
    } else if (kind == "node") {
      below.push_back({&child, placement, at.depth});
    } else if (kind == "instance_node") {
      if (at.depth >= kDeepest) refuse(child, "found copies of nodes within themselves");
      if (const XmlElement* node = target(child, "url"))
        below.push_back({node, placement, at.depth + 1});
    } else if (kind == "instance_geometry") {
      if (const XmlElement* geometry = target(child, "url")) addGeometry(*geometry, placement);
    }
  }
  left->insert(left->end(), below.rbegin(), below.rend());
}

Placement ColladaReader::placementOf(const XmlElement& transform) const {
  const std::vector<Real> v = numbersOf<Real>(transform);
  const std::string& kind = transform.name;
  const std::size_t expected = kind == "matrix" ? 16 : kind == "rotate" ? 4 : 3;
  if (v.size() != expected) {
    refuse(transform,
           "found " + std::to_string(v.size()) + " numbers, expected " + std::to_string(expected));
  }
  Placement out;
  if (kind == "translate") {
    out.shift = {v[0], v[1], v[2]};
  } else if (kind == "scale") {
    out.linear = {{{v[0], 0, 0}, {0, v[1], 0}, {0, 0, v[2]}}};
  } else if (kind == "matrix") {  // row by row
    out.linear = {{{v[0], v[4], v[8]}, {v[1], v[5], v[9]}, {v[2], v[6], v[10]}}};
    out.shift = {v[3], v[7], v[11]};
  } else {
    const Vec3 axis{v[0], v[1], v[2]};
    const Real length = norm(axis);
    if (!(length > 0) || !(std::fabs(v[3]) <= 1e6)) return out;
    const auto [sine, cosine] = core::sinCos(v[3] * kDegree);
    const Vec3 a = axis / length;
    for (int k = 0; k < 3; ++k) {
      Vec3 unit{};
      unit[k] = 1;
      out.linear.col[k] = unit * cosine + cross(a, unit) * sine + a * (a[k] * (1 - cosine));
    }
  }
  return out;
}

void ColladaReader::addGeometry(const XmlElement& geometry, const Placement& placement) {
  const XmlElement* mesh = geometry.child("mesh");
  if (mesh == nullptr) return;  // curves and the like
  isMirrored_ =
      dot(cross(placement.linear.col[0], placement.linear.col[1]), placement.linear.col[2]) < 0;
  for (const XmlElement& child : mesh->children) {
    if (isIn(child.name, {"triangles", "polylist", "polygons", "trifans", "tristrips"}))
      addPrimitive(child, placement);
  }
}

void ColladaReader::addPrimitive(const XmlElement& primitive, const Placement& placement) {
  std::size_t stride = 0, offset = 0;
  const XmlElement* vertex = nullptr;
  for (const XmlElement& input : primitive.children) {
    if (input.name != "input") continue;
    constexpr std::size_t kMostInputs = 1000;
    const std::size_t own = sizeOf(input, "offset", 0);
    if (own > kMostInputs) refuse(input, "found an offset above " + std::to_string(kMostInputs));
    stride = std::max(stride, own + 1);
    const io::XmlAttribute* semantic = input.attribute("semantic");
    if (semantic == nullptr || semantic->value != "VERTEX") continue;
    vertex = &input;
    offset = own;
  }
  if (vertex == nullptr) return;  // nothing is in it
  const Source positions = positionsOf(*vertex);
  const auto firstVertex = static_cast<int>(mesh_.vertices.size());
  for (std::size_t i = 0; i < positions.count; ++i) {
    const Real* const p = positions.values.data() + positions.offset + i * positions.stride;
    const Vec3 place = placement(Vec3{p[0], p[1], p[2]});
    if (!(norm(place) < 1e150)) refuse(primitive, "found a vertex at infinity");
    mesh_.vertices.push_back(place);
  }
  std::vector<int> counts;
  if (primitive.name == "polylist") {
    const XmlElement* list = primitive.child("vcount");
    if (list == nullptr) refuse(primitive, "vcount is missing");
    counts = numbersOf<int>(*list);
  }
  for (const XmlElement& child : primitive.children) {
    // A polygon with holes (<ph>) keeps its outline.
    const XmlElement* p = child.name == "ph" ? child.child("p") : &child;
    if (p == nullptr || p->name != "p") continue;
    const std::vector<int> numbers = numbersOf<int>(*p);
    if (numbers.size() % stride != 0) {
      refuse(*p, "found " + std::to_string(numbers.size()) + " indices, expected a multiple of " +
                     std::to_string(stride));
    }
    corners_.clear();
    for (std::size_t k = offset; k < numbers.size(); k += stride) {
      if (numbers[k] < 0 || static_cast<std::size_t>(numbers[k]) >= positions.count) {
        refuse(*p, "found the index " + std::to_string(numbers[k]) + ", expected one from 0 to " +
                       std::to_string(positions.count) + " exclusive");
      }
      corners_.push_back(firstVertex + numbers[k]);
    }
    if (primitive.name == "triangles") {
      counts.assign(corners_.size() / 3, 3);
    } else if (primitive.name != "polylist") {
      counts = {static_cast<int>(corners_.size())};
    }
    std::size_t first = 0;
    for (const int count : counts) {
      if (count < 0 || static_cast<std::size_t>(count) > corners_.size() - first)
        refuse(*p, "found fewer corners than its polygons have");
      addPolygon(first, static_cast<std::size_t>(count), primitive.name == "tristrips");
      first += static_cast<std::size_t>(count);
    }
  }
}

/// A fan from the first corner, which is right for convex polygons; or a strip.
void ColladaReader::addPolygon(std::size_t first, std::size_t count, bool isStrip) {
  for (std::size_t k = 2; k < count; ++k) {
    if (mesh_.triangles.size() >= limits_.maxTriangles) {
      throw LimitExceeded(name_ + ": more than the limit of " +
                          std::to_string(limits_.maxTriangles) + " triangles");
    }
    int a = corners_[isStrip ? first + k - 2 : first], b = corners_[first + k - 1];
    const int c = corners_[first + k];
    if (isMirrored_ != (isStrip && k % 2 == 1)) std::swap(a, b);
    mesh_.triangles.push_back({a, b, c});
  }
}

/// Of <vertices>, by their POSITION.
ColladaReader::Source ColladaReader::positionsOf(const XmlElement& input) const {
  const XmlElement* vertices = target(input, "source");
  const XmlElement* source = nullptr;
  if (vertices != nullptr) {
    for (const XmlElement& child : vertices->children) {
      const io::XmlAttribute* semantic = child.attribute("semantic");
      if (child.name == "input" && semantic != nullptr && semantic->value == "POSITION")
        source = target(child, "source");
    }
  }
  const XmlElement* list = source != nullptr ? source->child("float_array") : nullptr;
  if (list == nullptr) refuse(input, "found no positions, expected a source with a float_array");
  Source out{.values = numbersOf<Real>(*list)};
  out.count = out.values.size() / 3;
  const XmlElement* common = source->child("technique_common");
  if (const XmlElement* accessor = common != nullptr ? common->child("accessor") : nullptr) {
    out.offset = sizeOf(*accessor, "offset", 0);
    out.stride = sizeOf(*accessor, "stride", 1);
    out.count = sizeOf(*accessor, "count", 0);
    const std::size_t have = out.values.size();
    const bool isInside =
        out.stride >= 3 && out.offset <= have &&
        (out.count == 0 || (out.count - 1 <= have / out.stride &&
                            out.offset + (out.count - 1) * out.stride + 3 <= have));
    if (!isInside)
      refuse(*accessor, "found more or narrower positions than the numbers that are there");
  }
  if (out.count >
      static_cast<std::size_t>(std::numeric_limits<int>::max() / 2) - mesh_.vertices.size())
    throw LimitExceeded(name_ + ": too many vertices for one mesh");
  return out;
}

/// The element that "#id" names; null where it is in another file or missing.
const XmlElement* ColladaReader::target(const XmlElement& element, const char* key) const {
  const io::XmlAttribute* address = element.attribute(key);
  if (address == nullptr || address->value.empty() || address->value[0] != '#') return nullptr;
  const auto found = ids_.find(address->value.substr(1));
  return found != ids_.end() ? found->second : nullptr;
}

template <class Number>
std::vector<Number> ColladaReader::numbersOf(const XmlElement& element) const {
  std::vector<Number> out;
  const std::string_view text = element.text;
  constexpr std::string_view kBlank = " \t\r\n";
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;
       at = text.find_first_not_of(kBlank, at)) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    std::string_view word = text.substr(at, end - at);
    if (word.size() > 1 && word[0] == '+') word.remove_prefix(1);
    Number value{};
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    bool isGood = error == std::errc() && rest == word.data() + word.size();
    if constexpr (std::is_floating_point_v<Number>) isGood = isGood && std::isfinite(value);
    if (!isGood) refuse(element, "found " + io::quoted(word) + ", expected a finite number");
    out.push_back(value);
    at = end;
  }
  return out;
}

std::size_t ColladaReader::sizeOf(const XmlElement& element, const char* key,
                                  std::size_t otherwise) const {
  const io::XmlAttribute* attribute = element.attribute(key);
  if (attribute == nullptr) return otherwise;
  const std::string& text = attribute->value;
  std::uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size())
    refuse(element, std::string(key) + ": found " + io::quoted(text) + ", expected a whole number");
  return value;
}

void ColladaReader::refuse(const XmlElement& element, const std::string& message) const {
  throw InvalidInput(name_ + ":" + std::to_string(element.place.line) + ":" +
                     std::to_string(element.place.column) + ": <" + element.name.substr(0, 40) +
                     ">: " + message);
}

}  // namespace

TriangleMesh readCollada(std::string_view text, std::string_view name,
                         const MeshReadLimits& limits) {
  return ColladaReader(text, name, limits).read();
}

}  // namespace tangere
