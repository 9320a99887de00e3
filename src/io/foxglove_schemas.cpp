// SPDX-License-Identifier: Apache-2.0
#include "io/foxglove_schemas.hpp"

#include "io/json_text.hpp"
#include "io/recording_layout.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

namespace tangere::io {

namespace {

struct Property {
  std::string name{}, schema{};
};
using Properties = std::vector<Property>;

std::string typed(std::string_view type, std::string_view meaning = "") {
  JsonText json;
  json.beginObject().member("type", type);
  if (!meaning.empty()) json.member("description", meaning);
  return json.endObject().text();
}
std::string number(std::string_view meaning = "") { return typed("number", meaning); }
std::string integer(std::string_view meaning = "") { return typed("integer", meaning); }
std::string text(std::string_view meaning = "") { return typed("string", meaning); }
std::string arrayOf(const std::string& schema) {
  return JsonText()
      .beginObject()
      .member("type", "array")
      .key("items")
      .raw(schema)
      .endObject()
      .text();
}

/// All properties are always there.
std::string object(std::string_view title, const Properties& properties) {
  JsonText json;
  json.beginObject();
  if (!title.empty()) json.member("title", title);
  json.member("type", "object").key("properties").beginObject();
  for (const Property& property : properties) json.key(property.name).raw(property.schema);
  json.endObject().key("required").beginArray();
  for (const Property& property : properties) json.value(property.name);
  return json.endArray().endObject().text();
}

std::string time(const char* kind) {
  return object(kind, {{"sec", integer()}, {"nsec", integer()}});
}
std::string vector3(std::string_view title) {
  return object(title, {{"x", number()}, {"y", number()}, {"z", number()}});
}
std::string quaternion() {
  return object("foxglove.Quaternion",
                {{"x", number()}, {"y", number()}, {"z", number()}, {"w", number()}});
}
std::string color() {
  return object("foxglove.Color",
                {{"r", number()}, {"g", number()}, {"b", number()}, {"a", number()}});
}
std::string pose() {
  return object("foxglove.Pose",
                {{"position", vector3("foxglove.Vector3")}, {"orientation", quaternion()}});
}

std::string arrow() {
  return object("foxglove.ArrowPrimitive", {{"pose", pose()},
                                            {"shaft_length", number()},
                                            {"shaft_diameter", number()},
                                            {"head_length", number()},
                                            {"head_diameter", number()},
                                            {"color", color()}});
}
std::string solid(std::string_view title) {
  return object(title,
                {{"pose", pose()}, {"size", vector3("foxglove.Vector3")}, {"color", color()}});
}
std::string cylinder() {
  return object("foxglove.CylinderPrimitive", {{"pose", pose()},
                                               {"size", vector3("foxglove.Vector3")},
                                               {"bottom_scale", number()},
                                               {"top_scale", number()},
                                               {"color", color()}});
}
std::string line() {
  return object("foxglove.LinePrimitive", {{"type", integer()},
                                           {"pose", pose()},
                                           {"thickness", number()},
                                           {"scale_invariant", typed("boolean")},
                                           {"points", arrayOf(vector3("foxglove.Point3"))},
                                           {"color", color()},
                                           {"colors", arrayOf(color())},
                                           {"indices", arrayOf(integer())}});
}
std::string triangles() {
  return object("foxglove.TriangleListPrimitive", {{"pose", pose()},
                                                   {"points", arrayOf(vector3("foxglove.Point3"))},
                                                   {"color", color()},
                                                   {"colors", arrayOf(color())},
                                                   {"indices", arrayOf(integer())}});
}
std::string label() {
  return object("foxglove.TextPrimitive", {{"pose", pose()},
                                           {"billboard", typed("boolean")},
                                           {"font_size", number()},
                                           {"scale_invariant", typed("boolean")},
                                           {"color", color()},
                                           {"text", text()}});
}
std::string meshFile() {
  return object("foxglove.ModelPrimitive", {{"pose", pose()},
                                            {"scale", vector3("foxglove.Vector3")},
                                            {"color", color()},
                                            {"override_color", typed("boolean")},
                                            {"url", text()},
                                            {"media_type", text()},
                                            {"data", text()}});
}

/// "position [m]: world".
template <class Field>
std::string meaningOf(const Field& field) {
  std::string meaning = field.meaning;
  if (*field.unit != '\0')
    meaning += (meaning.empty() ? "[" : " [") + std::string(field.unit) + "]";
  return meaning;
}
template <class Fields>
void addNumbers(Properties& to, const Fields& fields) {
  for (const auto& field : fields) to.push_back({field.name, number(meaningOf(field))});
}
template <class Fields>
void addIntegers(Properties& to, const Fields& fields) {
  for (const auto& field : fields) to.push_back({field.name, integer(meaningOf(field))});
}
template <class Fields>
void addVectors(Properties& to, const Fields& fields) {
  for (const auto& field : fields) to.push_back({field.name, vector3(meaningOf(field))});
}

Properties stepProperties() {
  return {{"time", number("of the simulation [s]")}, {"step", integer()}};
}

}  // namespace

std::string frameTransformsSchema() {
  const std::string transform =
      object("foxglove.FrameTransform", {{"timestamp", time("time")},
                                         {"parent_frame_id", text()},
                                         {"child_frame_id", text()},
                                         {"translation", vector3("foxglove.Vector3")},
                                         {"rotation", quaternion()}});
  return object("foxglove.FrameTransforms", {{"transforms", arrayOf(transform)}});
}

std::string sceneUpdateSchema() {
  const std::string deletion =
      object("foxglove.SceneEntityDeletion",
             {{"timestamp", time("time")}, {"type", integer()}, {"id", text()}});
  const std::string pair = object("foxglove.KeyValuePair", {{"key", text()}, {"value", text()}});
  const std::string entity =
      object("foxglove.SceneEntity", {{"timestamp", time("time")},
                                      {"frame_id", text()},
                                      {"id", text()},
                                      {"lifetime", time("duration")},
                                      {"frame_locked", typed("boolean")},
                                      {"metadata", arrayOf(pair)},
                                      {"arrows", arrayOf(arrow())},
                                      {"cubes", arrayOf(solid("foxglove.CubePrimitive"))},
                                      {"spheres", arrayOf(solid("foxglove.SpherePrimitive"))},
                                      {"cylinders", arrayOf(cylinder())},
                                      {"lines", arrayOf(line())},
                                      {"triangles", arrayOf(triangles())},
                                      {"texts", arrayOf(label())},
                                      {"models", arrayOf(meshFile())}});
  return object("foxglove.SceneUpdate",
                {{"deletions", arrayOf(deletion)}, {"entities", arrayOf(entity)}});
}

std::string bodiesSchema() {
  const std::string body = object("", {{"name", text()},
                                       {"position", vector3("of the origin, world [m]")},
                                       {"quaternion", quaternion()},
                                       {"linear_velocity", vector3("of the origin, world [m/s]")},
                                       {"angular_velocity", vector3("world [rad/s]")}});
  Properties properties = stepProperties();
  properties.push_back({"bodies", arrayOf(body)});
  return object("tangere.Bodies", properties);
}

std::string contactsSchema() {
  Properties contact = {{"body1", text()}, {"body2", text()}};
  contact.push_back({"shape1", integer("shape of body 1")});
  contact.push_back({"shape2", integer("shape of body 2")});
  contact.push_back({"id", text("the same for as long as the point lives")});
  addVectors(contact, kContactVectors);
  addNumbers(contact, kContactReals);
  Properties properties = stepProperties();
  properties.push_back({"count", integer()});
  properties.push_back({"total_force", number("sum of the lengths of the forces [N]")});
  properties.push_back({"contacts", arrayOf(object("", contact))});
  return object("tangere.Contacts", properties);
}

std::string pressureSchema() {
  Properties polygon = {{"side1", text("a body or a soft body")}, {"side2", text("the other")}};
  addVectors(polygon, kPolygonVectors);
  addNumbers(polygon, kPolygonReals);
  Properties properties = stepProperties();
  properties.push_back({"count", integer()});
  properties.push_back({"total_area", number("[m^2]")});
  properties.push_back({"max_pressure", number("at a centroid [Pa]")});
  properties.push_back({"polygons", arrayOf(object("", polygon))});
  return object("tangere.Pressure", properties);
}

std::string solverSchema(bool hasPressure) {
  Properties properties = stepProperties();
  properties.push_back({"status", integer(kStatusMeaning)});
  addIntegers(properties, kReportInts);
  addNumbers(properties, kReportReals);
  if (hasPressure) addIntegers(properties, kPressureReportInts);
  properties.push_back({"state_hash", text("16 hexadecimal digits")});
  return object("tangere.Solver", properties);
}

std::string energySchema() {
  Properties properties = stepProperties();
  addNumbers(properties, kLedgerReals);
  return object("tangere.Energy", properties);
}

std::string sensorsSchema() {
  const std::string sensor = object("", {{"name", text()}, {"values", arrayOf(number())}});
  Properties properties = stepProperties();
  properties.push_back({"sensors", arrayOf(sensor)});
  return object("tangere.Sensors", properties);
}

}  // namespace tangere::io
