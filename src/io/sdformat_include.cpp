// SPDX-License-Identifier: Apache-2.0
//
// SDFormat: models that come from other files.
#include <tangere/error.hpp>

#include "io/sdformat_reader.hpp"
#include "io/text.hpp"

#include <algorithm>
#include <charconv>

namespace tangere::io {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxIncludeDepth = 16;

bool endsWith(const std::string& word, std::string_view end) {
  return word.size() >= end.size() && word.compare(word.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

void SdfReader::readInclude(const XmlElement& element, const std::string& parent,
                            const Source& source, const Model* outer) {
  XmlReader reader(notes_, element, "include");
  const bool isMerged = reader.boolean("merge").value_or(false);
  reader.finish();
  checkChildren(element, "include",
                {"uri", "name", "pose", "static", "placement_frame", "namespace"}, {"plugin"});
  ignore(element, "include", "is for other programs", {"namespace"});
  for (const XmlElement& child : element.children) {
    if (child.name == "plugin") plugins_.add(child);
  }
  if (isMerged) {
    reader.error(reader.placeOf("merge"), "merge: is not available yet");
    return;
  }
  const XmlElement* uri = element.child("uri");
  if (uri == nullptr) {
    reader.error(element.place, "uri is missing");
    return;
  }
  const Overrides overrides = readOverrides(element);
  const std::optional<fs::path> path = locate(*uri, source);
  if (!path) return;
  std::optional<Source> inner = enter(*path, source, *uri);
  if (!inner) return;
  const XmlElement* root = load(*path, *uri);
  if (root == nullptr) return;
  const std::optional<int> version = readVersion(*root);
  if (!version) return;
  inner->version = *version;
  checkChildren(*root, "sdf", {"model"});
  const XmlElement* model = root->child("model");
  if (model == nullptr) {
    note(ImportNote::Kind::Error, *root, "include: found no model, expected one");
    return;
  }
  readModel(*model, parent, *inner, outer, overrides);
}

SdfReader::Overrides SdfReader::readOverrides(const XmlElement& include) {
  Overrides overrides{.element = &include};
  overrides.name = text(include, "name", "include");
  overrides.isStatic = boolean(include, "static", "include");
  if (const XmlElement* placement = include.child("placement_frame")) {
    overrides.placement = placement->text;
    overrides.placementPlace = placement->textPlace;
  }
  const PoseText pose = readPose(include, "include");
  if (pose.isGiven) overrides.pose = pose;
  return overrides;
}

/// The file that a <uri> means: itself, or the one that the model.config of a folder names.
std::optional<fs::path> SdfReader::locate(const XmlElement& uri, const Source& source) {
  XmlReader(notes_, uri, "include: uri").finish();
  std::string name = uri.text;
  while (name.size() > 1 && name.back() == '/' && !endsWith(name, "://")) name.pop_back();
  try {
    if (name.compare(0, 7, "http://") == 0 || name.compare(0, 8, "https://") == 0)
      throw InvalidInput("found the address " + io::quoted(name) +
                         ", expected a file: addresses are never fetched");
    for (const char* end : {".sdf", ".world", ".xml", ".urdf"}) {
      if (endsWith(name, end)) return import_.files.resolve(name, source.folder);
    }
    std::optional<fs::path> config;
    try {
      config = import_.files.resolve(name + "/model.config", source.folder);
    } catch (const InvalidInput&) {
      return import_.files.resolve(name + "/model.sdf", source.folder);
    }
    return fileOfConfig(*config, uri);
  } catch (const InvalidInput& error) {
    say(notes_, ImportNote::Kind::Error, uri, uri.textPlace,
        std::string("include: ") + error.what());
    return std::nullopt;
  }
}

/// Of the files in a model.config the one of the newest version that is read.
std::optional<fs::path> SdfReader::fileOfConfig(const fs::path& config, const XmlElement& uri) {
  const std::string shown = config.lexically_relative(import_.files.folder()).string();
  const std::string content = import_.files.readText(config, shown);
  const std::optional<XmlElement> root = parseRobotXml(content, shown, import_.limits, notes_);
  if (!root) return std::nullopt;
  std::string best;
  int newest = -1;
  for (const XmlElement& child : root->children) {
    if (child.name != "sdf") continue;
    const XmlAttribute* version = child.attribute("version");
    int minor = 0;
    if (version != nullptr && version->value.compare(0, 2, "1.") == 0) {
      const std::string& digits = version->value;
      (void)std::from_chars(digits.data() + 2, digits.data() + digits.size(), minor);
    }
    if (minor > newest && minor <= kNewest) {
      newest = minor;
      best = child.text;
    }
  }
  if (best.empty()) {
    say(notes_, ImportNote::Kind::Error, uri, uri.textPlace,
        "include: " + io::quoted(shown) + " names no <sdf> file");
    return std::nullopt;
  }
  return import_.files.resolve(best, config.parent_path());
}

std::optional<SdfReader::Source> SdfReader::enter(const fs::path& path, const Source& source,
                                                  const XmlElement& uri) {
  Source inner = source;
  const bool isRing =
      std::find(source.chain.begin(), source.chain.end(), path) != source.chain.end();
  inner.chain.push_back(path);
  inner.folder = path.parent_path();
  if (!isRing && inner.chain.size() <= kMaxIncludeDepth) return inner;
  std::string chain;
  for (const fs::path& file : inner.chain) {
    if (!chain.empty()) chain += " -> ";
    chain += io::quoted(file.filename().string());
  }
  const std::string message =
      "include: found " +
      std::string(isRing ? "files that include each other" : "files included deeper than 16") +
      ": " + chain;
  note(ImportNote::Kind::Error, uri, message);
  return std::nullopt;
}

const XmlElement* SdfReader::load(const fs::path& path, const XmlElement& uri) {
  const std::string shown = path.lexically_relative(import_.files.folder()).string();
  try {
    const std::string content = import_.files.readText(path, shown);
    std::optional<XmlElement> root = parseRobotXml(content, shown, import_.limits, notes_);
    if (!root) return nullptr;
    documents_.push_back(std::move(*root));
  } catch (const LimitExceeded& error) {
    notes_.limitIn(*uri.file, uri.textPlace, std::string("include: ") + error.what());
    return nullptr;
  } catch (const InvalidInput& error) {
    say(notes_, ImportNote::Kind::Error, uri, uri.textPlace,
        std::string("include: ") + error.what());
    return nullptr;
  }
  const XmlElement& root = documents_.back();
  passForeignAttributes(root, &extensions_);
  if (root.name != "sdf") {
    note(ImportNote::Kind::Error, root,
         "include: found <" + root.name.substr(0, 40) +
             ">, expected <sdf>; other robot files are placed by [[model]] of a native scene");
    return nullptr;
  }
  return &root;
}

}  // namespace tangere::io
