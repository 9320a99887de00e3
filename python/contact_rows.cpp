// SPDX-License-Identifier: Apache-2.0
#include "contact_rows.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tangere::python {

namespace {

/// Names as NumPy holds text: four bytes a letter, all of one width. Longer names are cut; the
/// indices beside them are not.
class NameTable {
 public:
  explicit NameTable(const std::vector<std::string>& names) {
    constexpr int kLongest = 128;
    nb::list list;
    std::size_t width = 1;
    for (const std::string& name : names) {
      const nb::str text(name.c_str(), name.size());
      width = std::max(width, nb::len(text));
      list.append(text);
    }
    width_ = std::min<int>(static_cast<int>(width), kLongest);
    const nb::object array =
        nb::module_::import_("numpy").attr("array")(list, ("U" + std::to_string(width_)).c_str());
    const auto bytes = nb::cast<nb::bytes>(array.attr("tobytes")());
    text_.assign(bytes.c_str(), bytes.size());
  }
  [[nodiscard]] std::size_t size() const { return 4 * static_cast<std::size_t>(width_); }
  [[nodiscard]] std::string type() const { return "U" + std::to_string(width_); }
  void write(int index, std::uint8_t* out) const {
    if (index < 0)
      std::memset(out, 0, size());
    else
      std::memcpy(out, text_.data() + static_cast<std::size_t>(index) * size(), size());
  }

 private:
  int width_ = 1;
  std::string text_;
};

/// Rows of a fixed part and two names.
template <class Row>
nb::object makeRows(const std::vector<Row>& rows, const std::vector<std::pair<int, int>>& names,
                    const NameTable& table, nb::list fields) {
  const std::size_t width = sizeof(Row) + 2 * table.size();
  std::vector<std::uint8_t> bytes(rows.size() * width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint8_t* out = bytes.data() + i * width;
    std::memcpy(out, &rows[i], sizeof(Row));
    table.write(names[i].first, out + sizeof(Row));
    table.write(names[i].second, out + sizeof(Row) + table.size());
  }
  fields.append(nb::make_tuple("name1", table.type()));
  fields.append(nb::make_tuple("name2", table.type()));
  const nb::object type = nb::module_::import_("numpy").attr("dtype")(fields);
  const std::size_t size = bytes.size();
  return nb::cast(makeArray<std::uint8_t>(std::move(bytes), {size})).attr("view")(type);
}

void add(nb::list& fields, const char* name, const char* type) {
  fields.append(nb::make_tuple(name, type));
}

/// A point contact; the fields are those listed by contactFields().
struct ContactRow {
  std::uint64_t id;
  Vec3 position, normal;
  Real depth;
  Vec3 force1, force2, torque1;
  Real normalWork, frictionWork;
  std::int32_t env, body1, body2, shape1, shape2, patch;
};
static_assert(sizeof(ContactRow) == 8 + 8 * (3 + 3 + 1 + 9 + 2) + 24);

nb::list contactFields() {
  nb::list fields;
  add(fields, "id", "u8");
  for (const char* name : {"position", "normal"}) add(fields, name, "3f8");
  add(fields, "depth", "f8");
  for (const char* name : {"force1", "force2", "torque1"}) add(fields, name, "3f8");
  for (const char* name : {"normal_work", "friction_work"}) add(fields, name, "f8");
  for (const char* name : {"env", "body1", "body2", "shape1", "shape2", "patch"})
    add(fields, name, "i4");
  return fields;
}

/// Which patch of the cache a point belongs to, by its id.
class PatchNumbers {
 public:
  PatchNumbers() = default;
  explicit PatchNumbers(const State& state) {
    std::int32_t number = 0;
    for (const ContactPatch& patch : state.patches.patches()) {
      for (const ContactPatchPoint& point : patch.contacts()) ids_.emplace_back(point.id, number);
      ++number;
    }
    std::stable_sort(ids_.begin(), ids_.end());
  }
  [[nodiscard]] std::int32_t of(std::uint64_t id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), std::pair(id, std::int32_t{-1}));
    return found != ids_.end() && found->first == id ? found->second : -1;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::int32_t>> ids_;
};

/// A polygon of a pressure contact.
struct PolygonRow {
  std::array<Vec3, PressurePolygon::kMaxVertices> vertices;
  std::array<Real, PressurePolygon::kMaxVertices> pressures;
  Vec3 centroid, normal;
  Real area, pressure;
  Vec3 force1, force2;
  Real normalWork, frictionWork;
  std::int32_t env, numVertices;
  std::int32_t body1, shape1, soft1, element1;
  std::int32_t body2, shape2, soft2, element2;
};
static_assert(sizeof(PolygonRow) == 8 * (24 + 8 + 6 + 2 + 6 + 2) + 40);

nb::list polygonFields() {
  nb::list fields;
  add(fields, "vertices", "(8,3)f8");
  add(fields, "pressures", "8f8");
  for (const char* name : {"centroid", "normal"}) add(fields, name, "3f8");
  for (const char* name : {"area", "pressure"}) add(fields, name, "f8");
  for (const char* name : {"force1", "force2"}) add(fields, name, "3f8");
  for (const char* name : {"normal_work", "friction_work"}) add(fields, name, "f8");
  for (const char* name : {"env", "num_vertices", "body1", "shape1", "soft1", "element1", "body2",
                           "shape2", "soft2", "element2"})
    add(fields, name, "i4");
  return fields;
}

}  // namespace

struct ContactRows::Impl {
  std::vector<ContactRow> rows;
  std::vector<std::pair<int, int>> names;
};

ContactRows::ContactRows() : impl_(std::make_unique<Impl>()) {}
ContactRows::~ContactRows() = default;

void ContactRows::add(int env, std::span<const ContactForce> contacts, const State* state) {
  if (contacts.empty()) return;
  const PatchNumbers patches = state == nullptr ? PatchNumbers() : PatchNumbers(*state);
  for (const ContactForce& contact : contacts) {
    impl_->rows.push_back({.id = contact.id,
                           .position = contact.position,
                           .normal = contact.normal,
                           .depth = contact.depth,
                           .force1 = contact.force,
                           .force2 = -contact.force,
                           .torque1 = contact.torque,
                           .normalWork = contact.normalWork,
                           .frictionWork = contact.frictionWork,
                           .env = env,
                           .body1 = contact.body1,
                           .body2 = contact.body2,
                           .shape1 = contact.shape1,
                           .shape2 = contact.shape2,
                           .patch = patches.of(contact.id)});
    impl_->names.emplace_back(contact.body1, contact.body2);
  }
}

nb::object ContactRows::array(const std::vector<std::string>& bodyNames) const {
  return makeRows(impl_->rows, impl_->names, NameTable(bodyNames), contactFields());
}

struct PolygonRows::Impl {
  std::vector<PolygonRow> rows;
  std::vector<std::pair<PressureSide, PressureSide>> sides;
};

PolygonRows::PolygonRows() : impl_(std::make_unique<Impl>()) {}
PolygonRows::~PolygonRows() = default;

void PolygonRows::add(int env, std::span<const PressurePolygon> polygons) {
  for (const PressurePolygon& polygon : polygons) {
    const PressureSide &one = polygon.side1, &two = polygon.side2;
    impl_->rows.push_back({.vertices = polygon.vertices,
                           .pressures = polygon.pressures,
                           .centroid = polygon.centroid,
                           .normal = polygon.normal,
                           .area = polygon.area,
                           .pressure = polygon.pressure,
                           .force1 = polygon.force,
                           .force2 = -polygon.force,
                           .normalWork = polygon.normalWork,
                           .frictionWork = polygon.frictionWork,
                           .env = env,
                           .numVertices = polygon.numVertices,
                           .body1 = one.body,
                           .shape1 = one.shape,
                           .soft1 = one.soft,
                           .element1 = one.element,
                           .body2 = two.body,
                           .shape2 = two.shape,
                           .soft2 = two.soft,
                           .element2 = two.element});
    impl_->sides.emplace_back(one, two);
  }
}

nb::object PolygonRows::array(const std::vector<std::string>& bodyNames,
                              const std::vector<std::string>& softNames) const {
  std::vector<std::string> known = bodyNames;
  known.insert(known.end(), softNames.begin(), softNames.end());
  const auto nameOf = [&](const PressureSide& side) {
    return side.soft >= 0 ? static_cast<int>(bodyNames.size()) + side.soft : side.body;
  };
  std::vector<std::pair<int, int>> names;
  for (const auto& sides : impl_->sides)
    names.emplace_back(nameOf(sides.first), nameOf(sides.second));
  return makeRows(impl_->rows, names, NameTable(known), polygonFields());
}

}  // namespace tangere::python
