// SPDX-License-Identifier: Apache-2.0
#include "solver/block_sparse.hpp"

#include "core/assert.hpp"
#include "core/stable_sort.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

namespace tangere::solver {
namespace {

/// A pivot below this part of its entry of H is rounding: so many digits were lost to the others.
constexpr Real kSmallestPivot = 4e-16;

}  // namespace

void BlockSparse::setPattern(std::span<const std::int32_t> sizes,
                             std::span<const std::uint64_t> edges) {
  if (std::equal(sizes.begin(), sizes.end(), sizes_.begin(), sizes_.end()) &&
      std::equal(edges.begin(), edges.end(), edges_.begin(), edges_.end())) {
    return;
  }
  sizes_.assign(sizes.begin(), sizes.end());
  edges_.assign(edges.begin(), edges.end());
  first_.resize(sizes.size() + 1);
  first_[0] = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) first_[b + 1] = first_[b] + sizes_[b];
  orderByMinimumDegree();
  buildPanels();
  buildUpdates();
  buildLevels();
}

void BlockSparse::orderByMinimumDegree() {
  const std::int32_t n = numBlocks();
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  adjacency_.assign(words * n, 0);
  const auto row = [&](std::int32_t b) { return adjacency_.data() + words * b; };
  const auto connect = [&](std::int32_t i, std::int32_t j) {
    row(i)[j / 64] |= std::uint64_t{1} << (j % 64);
  };
  for (const std::uint64_t edge : edges_) {
    const auto i = static_cast<std::int32_t>(edge >> 32);
    const auto j = static_cast<std::int32_t>(edge & 0xffffffffu);
    connect(i, j);
    connect(j, i);
  }
  const auto forEachNeighbour = [&](std::int32_t b, auto&& function) {
    const std::uint64_t* const bits = row(b);
    for (std::size_t w = 0; w < words; ++w) {
      for (std::uint64_t word = bits[w]; word != 0; word &= word - 1) {
        function(static_cast<std::int32_t>(64 * w) + std::countr_zero(word));
      }
    }
  };
  const auto degreeOf = [&](std::int32_t b) {
    std::int32_t degree = 0;
    forEachNeighbour(b, [&](std::int32_t other) { degree += sizes_[other]; });
    return degree;
  };

  degree_.resize(n);
  alive_.resize(n);
  block_.resize(n);
  position_.resize(n);
  neighbour_begin_.resize(static_cast<std::size_t>(n) + 1);
  neighbours_.clear();
  for (std::int32_t b = 0; b < n; ++b) {
    degree_[b] = degreeOf(b);
    alive_[b] = b;
  }
  for (std::int32_t step = 0; step < n; ++step) {
    std::int32_t best = 0;  // the list ascends: the first of the least is the lowest block
    for (std::int32_t i = 1; i < n - step; ++i) {
      if (degree_[alive_[i]] < degree_[alive_[best]]) best = i;
    }
    const std::int32_t pivot = alive_[best];
    alive_.erase(alive_.begin() + best);
    block_[step] = pivot;
    position_[pivot] = step;
    neighbour_begin_[step] = static_cast<std::int32_t>(neighbours_.size());
    forEachNeighbour(pivot, [&](std::int32_t b) { neighbours_.push_back(b); });
    // The neighbours of the pivot become neighbours of each other.
    for (std::size_t i = static_cast<std::size_t>(neighbour_begin_[step]); i < neighbours_.size();
         ++i) {
      const std::int32_t b = neighbours_[i];
      std::uint64_t* const bits = row(b);
      for (std::size_t w = 0; w < words; ++w) bits[w] |= row(pivot)[w];
      bits[pivot / 64] &= ~(std::uint64_t{1} << (pivot % 64));
      bits[b / 64] &= ~(std::uint64_t{1} << (b % 64));
      degree_[b] = degreeOf(b);
    }
  }
  neighbour_begin_[n] = static_cast<std::int32_t>(neighbours_.size());
}

void BlockSparse::buildPanels() {
  const std::int32_t n = numBlocks();
  panel_begin_.resize(static_cast<std::size_t>(n) + 1);
  panel_width_.resize(n);
  neighbour_column_.resize(neighbours_.size());
  neighbour_first_.resize(neighbours_.size());
  is_six_.resize(n);
  panel_begin_[0] = 0;
  work_ = 0;
  for (std::int32_t j = 0; j < n; ++j) {
    const std::span<std::int32_t> own(neighbours_.data() + neighbour_begin_[j],
                                      neighbours_.data() + neighbour_begin_[j + 1]);
    alive_.resize(static_cast<std::size_t>(n));  // serves as scratch here
    core::stableSortByKey(own, std::span<std::int32_t>(alive_),
                          [&](std::int32_t b) { return static_cast<std::uint64_t>(position_[b]); });
    std::int32_t width = sizes_[block_[j]];
    is_six_[j] = width == 6 ? 1 : 0;
    for (std::int32_t i = neighbour_begin_[j]; i < neighbour_begin_[j + 1]; ++i) {
      neighbour_column_[i] = width;
      neighbour_first_[i] = first_[neighbours_[i]];
      if (sizes_[neighbours_[i]] != 6) is_six_[j] = 0;
      width += sizes_[neighbours_[i]];
    }
    panel_width_[j] = width;
    panel_begin_[j + 1] = panel_begin_[j] + std::int64_t{width} * sizes_[block_[j]];
    work_ += 0.5 * sizes_[block_[j]] * static_cast<double>(width) * width;
  }
  values_.resize(static_cast<std::size_t>(panel_begin_[n]));
  inverse_diagonal_.resize(static_cast<std::size_t>(first_[n]));
  original_diagonal_.resize(static_cast<std::size_t>(first_[n]));

  edge_place_.resize(edges_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto i = static_cast<std::int32_t>(edges_[e] >> 32);
    const auto j = static_cast<std::int32_t>(edges_[e] & 0xffffffffu);
    const bool isTransposed = position_[j] < position_[i];
    const std::int32_t row = isTransposed ? j : i, column = isTransposed ? i : j;
    const std::int32_t p = position_[row];
    const auto begin = neighbours_.begin() + neighbour_begin_[p];
    const auto end = neighbours_.begin() + neighbour_begin_[p + 1];
    const auto found = std::lower_bound(begin, end, column, [&](std::int32_t a, std::int32_t b) {
      return position_[a] < position_[b];
    });
    TANGERE_ASSERT(found != end && *found == column);
    edge_place_[e] = {panel_begin_[p] + neighbour_column_[found - neighbours_.begin()],
                      panel_width_[p], isTransposed};
  }
}

void BlockSparse::buildUpdates() {
  const std::int32_t n = numBlocks();
  update_begin_.resize(static_cast<std::size_t>(n) + 1);
  updates_.clear();
  runs_.clear();
  for (std::int32_t j = 0; j < n; ++j) {
    update_begin_[j] = static_cast<std::int32_t>(updates_.size());
    const std::int32_t end = neighbour_begin_[j + 1];
    for (std::int32_t i = neighbour_begin_[j]; i < end; ++i) {
      const std::int32_t row = neighbours_[i];
      const std::int32_t p = position_[row];
      Update update{.from = j,
                    .panel = p,
                    .source = neighbour_column_[i],
                    .firstRun = static_cast<std::int32_t>(runs_.size())};
      runs_.push_back({neighbour_column_[i], 0, sizes_[row]});
      std::int32_t at = neighbour_begin_[p];
      for (std::int32_t k = i + 1; k < end; ++k) {
        while (neighbours_[at] != neighbours_[k]) ++at;  // there: elimination joined the two
        const std::int32_t target = neighbour_column_[at];
        BlockRun& last = runs_.back();
        if (last.target + last.count == target) {
          last.count += sizes_[neighbours_[k]];
        } else {
          runs_.push_back({neighbour_column_[k], target, sizes_[neighbours_[k]]});
        }
      }
      update.endRun = static_cast<std::int32_t>(runs_.size());
      updates_.push_back(update);
    }
  }
  update_begin_[n] = static_cast<std::int32_t>(updates_.size());
}

void BlockSparse::buildLevels() {
  const std::int32_t n = numBlocks();
  height_.assign(static_cast<std::size_t>(n), 0);
  std::int32_t numLevels = n > 0 ? 1 : 0;
  for (std::int32_t j = 0; j < n; ++j) {
    // The first neighbour is the parent; it is at least as high as one above this.
    if (neighbour_begin_[j] == neighbour_begin_[j + 1]) continue;
    const std::int32_t parent = position_[neighbours_[neighbour_begin_[j]]];
    height_[parent] = std::max(height_[parent], height_[j] + 1);
    numLevels = std::max(numLevels, height_[parent] + 1);
  }
  const auto bucket = [](std::span<const std::int32_t> keys, std::int32_t numKeys,
                         std::vector<std::int32_t>* begin, std::vector<std::int32_t>* items) {
    begin->assign(static_cast<std::size_t>(numKeys) + 1, 0);
    items->resize(keys.size());
    for (const std::int32_t key : keys) ++(*begin)[key + 1];
    for (std::int32_t i = 0; i < numKeys; ++i) (*begin)[i + 1] += (*begin)[i];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      (*items)[(*begin)[keys[i]]++] = static_cast<std::int32_t>(i);
    }
    for (std::int32_t i = numKeys; i > 0; --i) (*begin)[i] = (*begin)[i - 1];
    (*begin)[0] = 0;
  };
  bucket(height_, numLevels, &level_begin_, &level_panels_);
  height_.resize(updates_.size());
  for (std::size_t u = 0; u < updates_.size(); ++u) height_[u] = updates_[u].panel;
  bucket(height_, n, &incoming_begin_, &incoming_);
}

void BlockSparse::setZero() { std::fill(values_.begin(), values_.end(), Real(0)); }

int BlockSparse::factor(core::ThreadPool* pool) {
  const std::int32_t n = numBlocks();
  for (std::int32_t j = 0; j < n; ++j) {
    const Real* const panel = values_.data() + panel_begin_[j];
    const std::int32_t block = block_[j];
    for (int k = 0; k < sizes_[block]; ++k) {
      original_diagonal_[first_[block] + k] = panel[k * std::int64_t{panel_width_[j]} + k];
    }
  }
  constexpr double kParallelWork = 3e5;  // below, threads take longer to meet than to work
  if (pool == nullptr || work_ < kParallelWork) {
    int numRaised = 0;
    for (std::int32_t j = 0; j < n; ++j) {
      numRaised += factorPanel(j);
      for (std::int32_t u = update_begin_[j]; u < update_begin_[j + 1]; ++u) {
        applyUpdate(updates_[u]);
      }
    }
    return numRaised;
  }
  // The same sums in the same order: a panel takes its updates when its turn comes.
  std::atomic<int> numRaised{0};
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const std::int32_t first = level_begin_[level], count = level_begin_[level + 1] - first;
    core::parallelFor(
        count > 1 ? pool : nullptr, count, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t j = level_panels_[first + i];
            for (std::int32_t u = incoming_begin_[j]; u < incoming_begin_[j + 1]; ++u) {
              applyUpdate(updates_[incoming_[u]]);
            }
            numRaised.fetch_add(factorPanel(j), std::memory_order_relaxed);
          }
        });
  }
  return numRaised.load();
}

int BlockSparse::factorPanel(std::int32_t j) {
  const int size = sizes_[block_[j]];
  const std::int64_t width = panel_width_[j];
  Real* const panel = values_.data() + panel_begin_[j];
  Real* const inverse = inverse_diagonal_.data() + first_[block_[j]];
  const Real* const original = original_diagonal_.data() + first_[block_[j]];
  if (is_six_[j] != 0) {
    return sixFunctions().factorPanel(panel, width, kSmallestPivot, original, inverse);
  }
  return sixFunctions().factorPanelOfTree(panel, size, width, kSmallestPivot, original, inverse);
}

void BlockSparse::applyUpdate(const Update& update) {
  const int size = sizes_[block_[update.from]];
  const std::int64_t width = panel_width_[update.from];
  const Real* const panel = values_.data() + panel_begin_[update.from];
  Real* const target = values_.data() + panel_begin_[update.panel];
  const std::int64_t targetWidth = panel_width_[update.panel];
  if (is_six_[update.from] != 0) {
    return sixFunctions().update(panel, width, update.source, target, targetWidth,
                                 runs_.data() + update.firstRun, update.endRun - update.firstRun);
  }
  const int numRows = sizes_[block_[update.panel]];
  for (std::int32_t i = update.firstRun; i < update.endRun; ++i) {
    const BlockRun& run = runs_[i];
    sixFunctions().updateTree(panel, size, width, update.source, numRows, run.source, run.count,
                              i == update.firstRun, target + run.target, targetWidth);
  }
}

void BlockSparse::solve(Real* x) const {
  const SixFunctions& six = sixFunctions();
  const std::int32_t n = numBlocks();
  // U^T y = x, in place: x is in the order of the blocks.
  for (std::int32_t j = 0; j < n; ++j) {
    const std::int32_t block = block_[j];
    const int size = sizes_[block];
    const std::int64_t width = panel_width_[j];
    const Real* const panel = values_.data() + panel_begin_[j];
    const Real* const inverse = inverse_diagonal_.data() + first_[block];
    if (is_six_[j] != 0) {
      six.forward(panel, width, inverse, neighbour_first_.data() + neighbour_begin_[j],
                  neighbour_begin_[j + 1] - neighbour_begin_[j], x, first_[block]);
      continue;
    }
    Real* const own = x + first_[block];
    for (int k = 0; k < size; ++k) {
      own[k] *= inverse[k];
      for (int l = k + 1; l < size; ++l) own[l] -= panel[k * width + l] * own[k];
    }
    for (std::int32_t i = neighbour_begin_[j]; i < neighbour_begin_[j + 1]; ++i) {
      six.forwardBlock(panel, size, width, neighbour_column_[i], sizes_[neighbours_[i]], own,
                       x + first_[neighbours_[i]]);
    }
  }
  // U x = y.
  for (std::int32_t j = n - 1; j >= 0; --j) {
    const std::int32_t block = block_[j];
    const int size = sizes_[block];
    const std::int64_t width = panel_width_[j];
    const Real* const panel = values_.data() + panel_begin_[j];
    const Real* const inverse = inverse_diagonal_.data() + first_[block];
    if (is_six_[j] != 0) {
      six.backward(panel, width, inverse, neighbour_first_.data() + neighbour_begin_[j],
                   neighbour_begin_[j + 1] - neighbour_begin_[j], x, first_[block]);
      continue;
    }
    Real* const own = x + first_[block];
    for (std::int32_t i = neighbour_begin_[j]; i < neighbour_begin_[j + 1]; ++i) {
      six.backwardBlock(panel, size, width, neighbour_column_[i], sizes_[neighbours_[i]],
                        x + first_[neighbours_[i]], own);
    }
    for (int k = size - 1; k >= 0; --k) {
      Real sum = own[k];
      for (int l = k + 1; l < size; ++l) sum -= panel[k * width + l] * own[l];
      own[k] = sum * inverse[k];
    }
  }
}

}  // namespace tangere::solver
