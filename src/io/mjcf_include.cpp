// SPDX-License-Identifier: Apache-2.0
#include "io/mjcf_include.hpp"

#include <tangere/error.hpp>

#include "io/text.hpp"
#include "io/xml_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tangere::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 16;  // inside each other
constexpr int kMaxDepth = 128;

class Includes {
 public:
  explicit Includes(RobotImport& import) : import_(import) {}

  /// `depth` elements are around this one; `folder` is that of its file.
  void expand(XmlElement* element, int depth, const fs::path& folder);
  void begin(const fs::path& main, const std::string& name);

 private:
  void splice(const XmlElement& include, int depth, const fs::path& folder,
              std::vector<XmlElement>* out);
  [[nodiscard]] fs::path resolve(const std::string& file, const fs::path& folder) const;

  RobotImport& import_;
  std::vector<std::pair<fs::path, std::string>> chain_;  // the files that are open, with names
  std::map<fs::path, std::string> seen_;
};

void Includes::begin(const fs::path& main, const std::string& name) {
  chain_.emplace_back(main, name);
  seen_.emplace(main, name);
}

void Includes::expand(XmlElement* element, int depth, const fs::path& folder) {
  if (depth > kMaxDepth) {
    import_.notes.addIn(*element->file, ImportNote::Kind::Error, element->place,
                        "found elements inside each other deeper than 128, the limit (nesting)");
    element->children.clear();
    return;
  }
  const bool hasIncludes =
      std::any_of(element->children.begin(), element->children.end(),
                  [](const XmlElement& child) { return child.name == "include"; });
  if (!hasIncludes) {
    for (XmlElement& child : element->children) expand(&child, depth + 1, folder);
    return;
  }
  std::vector<XmlElement> children;
  for (XmlElement& child : element->children) {
    if (child.name == "include") {
      splice(child, depth, folder, &children);
    } else {
      expand(&child, depth + 1, folder);
      children.push_back(std::move(child));
    }
  }
  element->children = std::move(children);
}

void Includes::splice(const XmlElement& include, int depth, const fs::path& folder,
                      std::vector<XmlElement>* out) {
  XmlReader reader(import_.notes, include, "include");
  const std::string file = reader.string("file").value_or("");
  reader.finish();
  if (!reader.has("file")) {
    reader.error(reader.place(), "file is missing, expected the name of a file");
    return;
  }
  if (!include.children.empty()) {
    reader.error(include.children[0].place, "found an element inside, expected none");
    return;
  }
  const Place place = reader.placeOf("file");
  try {
    const fs::path path = resolve(file, folder);
    const auto open = std::find_if(chain_.begin(), chain_.end(),
                                   [&](const auto& entry) { return entry.first == path; });
    if (open != chain_.end()) {
      std::string chain;
      for (auto at = open; at != chain_.end(); ++at) chain += at->second + " -> ";
      reader.error(place, "found a file that includes itself: " + chain + open->second);
      return;
    }
    if (chain_.size() > kMaxFiles) {
      reader.error(place, "found files that include each other deeper than 16, the limit");
      return;
    }
    const std::string name = (fs::path(chain_.front().second).parent_path() / file).string();
    if (const auto [other, isNew] = seen_.emplace(path, name); !isNew) {
      reader.error(place, "found " + io::quoted(file) +
                              " twice, expected each file to be included "
                              "once");
      return;
    }
    const std::string text = import_.files.readText(path, file);
    std::optional<XmlElement> root = parseRobotXml(text, name, import_.limits, import_.notes);
    if (!root) return;
    if (root->name != "mujoco" && root->name != "mujocoinclude") {
      import_.notes.addIn(
          name, ImportNote::Kind::Error, root->place,
          "found the element " + io::quoted(root->name) + ", expected <mujoco> or <mujocoinclude>");
      return;
    }
    chain_.emplace_back(path, name);
    expand(&*root, depth, path.parent_path());
    chain_.pop_back();
    for (XmlElement& child : root->children) out->push_back(std::move(child));
  } catch (const LimitExceeded& error) {
    reader.limit(place, error.what());
  } catch (const InvalidInput& error) {
    reader.error(place, error.what());
  }
}

fs::path Includes::resolve(const std::string& file, const fs::path& folder) const {
  try {
    return import_.files.resolve(file);
  } catch (const InvalidInput&) {
    if (folder == import_.files.folder()) throw;
    return import_.files.resolve(file, folder);
  }
}

}  // namespace

void expandMjcfIncludes(XmlElement* root, RobotImport& import) {
  Includes includes(import);
  // The main file is known by its name alone: it may not be one (a text from memory).
  const std::string& name = *root->file;
  includes.begin(import.files.folder() / fs::path(name).filename(), name);
  includes.expand(root, 1, import.files.folder());
}

}  // namespace tangere::io
