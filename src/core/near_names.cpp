// SPDX-License-Identifier: Apache-2.0
#include <tangere/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tangere {

namespace {

int editDistance(const std::string& a, const std::string& b) {
  std::vector<int> previous(b.size() + 1), current(b.size() + 1), beforePrevious(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
      // Two letters swapped are the most common slip: one mistake, not two.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], beforePrevious[j - 2] + 1);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.size()];
}

std::string lowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::string nearNames(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string wanted = lowerCase(word);
  int best = static_cast<int>(std::max<std::size_t>(1, wanted.size() / 3));
  std::vector<std::string> near;
  for (const std::string& candidate : candidates) {
    const int mistakes = editDistance(wanted, lowerCase(candidate));
    if (mistakes > best) continue;
    if (mistakes < best) near.clear();
    near.push_back(candidate);
    best = mistakes;
  }
  if (near.empty()) return "";
  std::string text = " (did you mean ";
  for (std::size_t i = 0; i < near.size() && i < 3; ++i)
    text += (i > 0 ? " or '" : "'") + near[i] + "'";
  return text + "?)";
}

}  // namespace tangere
