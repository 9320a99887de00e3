// SPDX-License-Identifier: Apache-2.0
#include "pair_table.hpp"

#include <tangere/error.hpp>

#include <cmath>
#include <map>

namespace tangere::cli {

namespace {

const std::vector<std::string> kShapeNames = {"sphere", "box",       "capsule", "cylinder",
                                              "cone",   "ellipsoid", "hull",    "halfspace"};

const std::vector<std::string> kHullColumns = {"hull", "vertex", "x", "y", "z"};

std::vector<std::string> pairColumns() {
  std::vector<std::string> names = {"id"};
  for (const char* which : {"1", "2"})
    for (const char* name : {"shape", "a", "b", "c", "hull", "qw", "qx", "qy", "qz", "x", "y", "z"})
      names.push_back(std::string(name) + which);
  return names;
}

/// The point sets of a hulls file, made into shapes when first asked for.
class HullLibrary {
 public:
  explicit HullLibrary(const std::string& path) {
    if (path.empty()) return;
    const CsvTable table(path);
    path_ = path;
    Diagnostics errors(path);
    const int hull = table.require("hull", kHullColumns, errors);
    const int coordinates[3] = {table.require("x", kHullColumns, errors),
                                table.require("y", kHullColumns, errors),
                                table.require("z", kHullColumns, errors)};
    errors.throwIfAny();
    for (const CsvRow& row : table.rows()) addVertex(row, hull, coordinates, errors);
    errors.throwIfAny();
  }

  [[nodiscard]] bool isEmpty() const { return path_.empty(); }
  [[nodiscard]] bool contains(int index) const { return hulls_.count(index) > 0; }
  [[nodiscard]] std::size_t size() const { return hulls_.size(); }

  /// The hull, or null when its points make none; that is reported once, where the points stand.
  [[nodiscard]] std::shared_ptr<const Shape> shape(int index, Diagnostics& errors) {
    Hull& hull = hulls_.at(index);
    if (hull.shape == nullptr && !hull.rejected) {
      try {
        hull.shape = std::make_shared<Convex>(hull.points);
      } catch (const InvalidInput& problem) {
        hull.rejected = true;
        errors.addIn(path_, hull.firstLine, 1,
                     join("hull ", std::to_string(index), ": ", problem.what()));
      }
    }
    return hull.shape;
  }

 private:
  struct Hull {
    std::vector<Vec3> points;
    int firstLine = 0;
    bool rejected = false;
    std::shared_ptr<const Shape> shape;
  };

  void addVertex(const CsvRow& row, int hullColumn, const int (&coordinates)[3],
                 Diagnostics& errors) {
    const CsvField& name = row.fields[hullColumn];
    const std::optional<int> index = parseIndex(name.text);
    if (!index) {
      errors.add(row.line, name.column,
                 join("hull: found ", inQuotes(name.text), ", expected a whole number"));
      return;
    }
    Vec3 point;
    for (int k = 0; k < 3; ++k) {
      const CsvField& field = row.fields[coordinates[k]];
      const std::optional<double> value = parseNumber(field.text);
      if (!value)
        errors.add(row.line, field.column,
                   join(std::string(1, "xyz"[k]), ": found ", inQuotes(field.text),
                        ", expected a finite number [m]"));
      else
        point[k] = *value;
    }
    Hull& hull = hulls_[*index];
    if (hull.points.empty()) hull.firstLine = row.line;
    hull.points.push_back(point);
  }

  std::string path_;
  std::map<int, Hull> hulls_;
};

/// Where the columns of one of the two shapes are; -1 where the table has none.
struct ShapeColumns {
  int shape = -1, size[3] = {-1, -1, -1}, hull = -1, quaternion[4] = {-1, -1, -1, -1},
      position[3] = {-1, -1, -1};

  ShapeColumns(const CsvTable& table, const std::string& which, Diagnostics& errors) {
    const std::vector<std::string> known = pairColumns();
    shape = table.require("shape" + which, known, errors);
    for (int k = 0; k < 3; ++k) size[k] = table.find(std::string(1, "abc"[k]) + which);
    hull = table.find("hull" + which);
    for (int k = 0; k < 4; ++k)
      quaternion[k] = table.require(join("q", std::string(1, "wxyz"[k]), which), known, errors);
    for (int k = 0; k < 3; ++k)
      position[k] = table.require(std::string(1, "xyz"[k]) + which, known, errors);
  }
};

class PairReader {
 public:
  PairReader(const CsvTable& table, HullLibrary& hulls, const CommonOptions& common)
      : table_(table), hulls_(hulls), common_(common), errors_(table.path()) {}

  std::vector<ShapePair> readAll() {
    const int id = table_.require("id", pairColumns(), errors_);
    const ShapeColumns columns1(table_, "1", errors_), columns2(table_, "2", errors_);
    errors_.throwIfAny();
    std::vector<ShapePair> pairs;
    pairs.reserve(table_.rows().size());
    for (const CsvRow& row : table_.rows()) {
      throwIfInterrupted();
      ShapePair pair;
      pair.id = row.fields[id].text;
      pair.shape1 = readShape(row, columns1, "1");
      pair.X_W1 = readPose(row, columns1);
      pair.shape2 = readShape(row, columns2, "2");
      pair.X_W2 = readPose(row, columns2);
      pairs.push_back(std::move(pair));
    }
    errors_.throwIfAny();
    return pairs;
  }

 private:
  [[nodiscard]] std::string columnName(int column) const { return table_.header()[column].text; }

  std::optional<double> number(const CsvRow& row, int column, const char* expected) {
    const CsvField& field = row.fields[column];
    const std::optional<double> value = parseNumber(field.text);
    if (!value)
      errors_.add(
          row.line, field.column,
          join(columnName(column), ": found ", inQuotes(field.text), ", expected ", expected));
    else if (*value == 0 && field.text.find_first_of("123456789") < field.text.find_first_of("eE"))
      warn(common_, describe({.file = table_.path(),
                              .line = row.line,
                              .column = field.column,
                              .message = join(inQuotes(field.text),
                                              " is too small for a double and was read as 0")}));
    return value;
  }

  std::shared_ptr<const Shape> readShape(const CsvRow& row, const ShapeColumns& columns,
                                         const std::string& which) {
    const CsvField& name = row.fields[columns.shape];
    if (name.text == "hull" || name.text == "convex") return readHull(row, columns, which);
    if (name.text == "halfspace" || name.text == "plane") return std::make_shared<Plane>();
    int numSizes = 0;
    if (name.text == "sphere") numSizes = 1;
    if (name.text == "capsule" || name.text == "cylinder" || name.text == "cone") numSizes = 2;
    if (name.text == "box" || name.text == "ellipsoid") numSizes = 3;
    if (numSizes == 0) {
      errors_.add(row.line, name.column,
                  join("shape", which, ": found ", inQuotes(name.text),
                       ", expected sphere, box, capsule, cylinder, cone, ellipsoid, hull or "
                       "halfspace",
                       nearNames(name.text, kShapeNames)));
      return nullptr;
    }
    Real size[3] = {};
    bool complete = true;
    for (int k = 0; k < numSizes; ++k) {
      if (columns.size[k] < 0) {
        errors_.add(row.line, name.column,
                    join("a ", name.text, " needs column '", std::string(1, "abc"[k]), which,
                         "', which the table does not have"));
        complete = false;
      } else if (const auto value = number(row, columns.size[k], "a finite number [m]")) {
        size[k] = *value;
      } else {
        complete = false;
      }
    }
    if (!complete) return nullptr;
    return makeShape(row, columns, numSizes, size);
  }

  std::shared_ptr<const Shape> makeShape(const CsvRow& row, const ShapeColumns& columns,
                                         int numSizes, const Real (&size)[3]) {
    const std::string& name = row.fields[columns.shape].text;
    try {
      if (name == "sphere") return std::make_shared<Sphere>(size[0]);
      if (name == "box") return std::make_shared<Box>(Vec3{size[0], size[1], size[2]});
      if (name == "capsule") return std::make_shared<Capsule>(size[0], size[1]);
      if (name == "cylinder") return std::make_shared<Cylinder>(size[0], size[1]);
      if (name == "cone") return std::make_shared<Cone>(size[0], size[1]);
      return std::make_shared<Ellipsoid>(Vec3{size[0], size[1], size[2]});
    } catch (const InvalidInput& problem) {
      int culprit = columns.shape;
      for (int k = numSizes - 1; k >= 0; --k)
        if (!(size[k] > 0)) culprit = columns.size[k];
      errors_.add(row.line, row.fields[culprit].column, problem.what());
      return nullptr;
    }
  }

  std::shared_ptr<const Shape> readHull(const CsvRow& row, const ShapeColumns& columns,
                                        const std::string& which) {
    const CsvField& name = row.fields[columns.shape];
    if (columns.hull < 0 || hulls_.isEmpty()) {
      errors_.add(row.line, name.column,
                  columns.hull < 0
                      ? join("a hull needs column 'hull", which, "', which the table does not have")
                      : "a hull needs its points: give --hulls FILE");
      return nullptr;
    }
    const CsvField& field = row.fields[columns.hull];
    const std::optional<int> index = parseIndex(field.text);
    if (!index || !hulls_.contains(*index)) {
      errors_.add(row.line, field.column,
                  join("hull", which, ": found ", inQuotes(field.text), ", expected one of the ",
                       std::to_string(hulls_.size()), " hulls of the hulls file"));
      return nullptr;
    }
    return hulls_.shape(*index, errors_);
  }

  Transform readPose(const CsvRow& row, const ShapeColumns& columns) {
    Transform pose;
    Real q[4] = {};
    bool complete = true;
    for (int k = 0; k < 4; ++k) {
      const auto value = number(row, columns.quaternion[k], "a finite number");
      complete = complete && value;
      q[k] = value.value_or(0);
    }
    for (int k = 0; k < 3; ++k)
      pose.translation[k] = number(row, columns.position[k], "a finite number [m]").value_or(0);
    if (!complete) return pose;
    if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) {
      errors_.add(row.line, row.fields[columns.quaternion[0]].column,
                  columnName(columns.quaternion[0]) +
                      ": found the quaternion 0 0 0 0, expected one that is not zero");
      return pose;
    }
    pose.rotation = rotationMatrix(Quat{q[0], q[1], q[2], q[3]});
    return pose;
  }

  const CsvTable& table_;
  HullLibrary& hulls_;
  const CommonOptions& common_;
  Diagnostics errors_;
};

}  // namespace

std::vector<ShapePair> readPairs(const std::string& pairsPath, const std::string& hullsPath,
                                 const CommonOptions& common) {
  HullLibrary hulls(hullsPath);
  const CsvTable table(pairsPath);
  return PairReader(table, hulls, common).readAll();
}

}  // namespace tangere::cli
