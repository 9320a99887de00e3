// SPDX-License-Identifier: Apache-2.0
#include "io/import_notes.hpp"

#include "io/text.hpp"
#include "model/model_data.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tangere {

std::string_view importNoteKindName(ImportNote::Kind kind) {
  switch (kind) {
    case ImportNote::Kind::Read:
      return "read";
    case ImportNote::Kind::Changed:
      return "changed";
    case ImportNote::Kind::Ignored:
      return "ignored";
    case ImportNote::Kind::Warning:
      return "warning";
    case ImportNote::Kind::Error:
      return "error";
  }
  return "";
}

std::string describe(const ImportNote& note) {
  std::string text = note.file;
  if (note.line > 0) text += ':' + std::to_string(note.line);
  if (note.line > 0 && note.column > 0) text += ':' + std::to_string(note.column);
  if (!text.empty()) text += ": ";
  return text + note.message;
}

namespace {

std::string listed(const std::vector<ImportNote>& errors, std::size_t numErrors) {
  std::string text;
  for (const ImportNote& error : errors) {
    if (!text.empty()) text += '\n';
    text += describe(error);
  }
  if (numErrors > errors.size())
    text += "\nand " + std::to_string(numErrors - errors.size()) + " more";
  return text;
}

}  // namespace

SceneError::SceneError(Cause cause, std::vector<ImportNote> errors, std::size_t numErrors)
    : InvalidInput(listed(errors, numErrors)),
      cause_(cause),
      errors_(std::make_shared<const std::vector<ImportNote>>(std::move(errors))),
      num_errors_(numErrors) {}

namespace io {

void ImportNotes::add(ImportNote::Kind kind, Place place, const std::string& message) {
  addIn(file_, kind, place, message);
}

void ImportNotes::addIn(const std::string& file, ImportNote::Kind kind, Place place,
                        const std::string& message) {
  const bool isError = kind == ImportNote::Kind::Error;
  ++(isError ? num_errors_ : num_notes_);
  std::vector<ImportNote>& list = isError ? errors_ : notes_;
  if (list.size() >= kMaxNotes) return;
  list.push_back({kind, file, place.line, place.column, message});
}

void ImportNotes::passUnknown(bool isPassed) {
  passes_unknown_ = isPassed;
  if (isPassed) return;
  for (const auto& [what, found] : unknown_) {
    addIn(found.file, ImportNote::Kind::Ignored, found.place,
          what + " is none of this format: it is not read" +
              (found.count == 1
                   ? std::string()
                   : " (found " + std::to_string(found.count) + " times, this the first)"));
  }
  unknown_.clear();
}

void ImportNotes::addUnknown(const std::string& file, Place place, const std::string& what) {
  if (unknown_.size() >= kMaxNotes && unknown_.count(what) == 0) return;
  Unknown& found = unknown_[what];
  if (found.count++ == 0) {
    found.file = file;
    found.place = place;
  }
}

void ImportNotes::errorOfModel(const NamedPlaces& places, const std::string& message) {
  std::size_t first = std::string::npos;
  Place where{};
  for (const auto& [name, place] : places) {
    const std::size_t blank = name.find(' ');
    const std::string called = name.substr(0, blank) + " '" + name.substr(blank + 1) + "'";
    const std::size_t at = message.find(called);
    if (at >= first) continue;
    first = at;
    where = place;
  }
  error(where, message);
}

void ImportNotes::noteStarts(const Model& model, const NamedPlaces& places) {
  constexpr Real kRounding = 1e-6;  // of a file
  std::map<int, Real> given;
  for (const model::InitialPosition& start : model.data().initialPositions)
    given[start.q] = start.position;
  for (int j = 0; j < model.numJoints(); ++j) {
    const Joint& joint = model.joint(j);
    if (numJointPositions(joint.type) != 1) continue;
    const auto start = given.find(model.positionOfJoint(j));
    const Real q = start != given.end() ? start->second : joint.reference;
    if (!(q < joint.lower - kRounding || q > joint.upper + kRounding)) continue;
    const auto found = places.find("joint " + joint.name);
    // Many robots say nowhere where they start, and their zero is outside: no warning each time.
    const bool isGiven = start != given.end();
    add(isGiven ? ImportNote::Kind::Warning : ImportNote::Kind::Read,
        found != places.end() ? found->second : Place{},
        "joint " + io::quoted(joint.name) +
            (isGiven ? ": found the start " : ": no start is given, and its zero is ") +
            sixDigits(q) + ", outside its limits " + sixDigits(joint.lower) + " to " +
            sixDigits(joint.upper) + ": it will be pushed back");
  }
}

void ImportNotes::limit(Place place, const std::string& message) { limitIn(file_, place, message); }

void ImportNotes::limitIn(const std::string& file, Place place, const std::string& message) {
  ++num_limits_;
  addIn(file, ImportNote::Kind::Error, place, message);
}

void ImportNotes::throwIfErrors() const {
  if (!hasErrors()) return;
  std::vector<ImportNote> errors = inOrder(errors_);
  if (errors.size() > kMaxErrorsListed) errors.resize(kMaxErrorsListed);
  throw SceneError(
      num_limits_ == num_errors_ ? SceneError::Cause::Limit : SceneError::Cause::Content,
      std::move(errors), num_errors_);
}

ImportReport ImportNotes::report() const {
  ImportReport out{inOrder(notes_)};
  if (num_notes_ > notes_.size()) {
    out.notes.push_back({ImportNote::Kind::Warning, file_, 0, 0,
                         std::to_string(num_notes_ - notes_.size()) + " more notes"});
  }
  return out;
}

std::vector<ImportNote> ImportNotes::inOrder(std::vector<ImportNote> list) const {
  std::map<std::string, int> rank{{file_, 0}};
  for (const ImportNote& note : list) rank.emplace(note.file, static_cast<int>(rank.size()));
  std::stable_sort(list.begin(), list.end(), [&](const ImportNote& a, const ImportNote& b) {
    const int rankA = rank.at(a.file), rankB = rank.at(b.file);
    return std::tie(rankA, a.line, a.column) < std::tie(rankB, b.line, b.column);
  });
  return list;
}

}  // namespace io

}  // namespace tangere
