// SPDX-License-Identifier: Apache-2.0
//
// A list that copies share: models that differ in their options alone keep one copy of what is
// large.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tangere::model {

template <class T>
class SharedList {
 public:
  [[nodiscard]] std::size_t size() const { return items_ ? items_->size() : 0; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return (*items_)[i]; }
  [[nodiscard]] const T* begin() const { return items_ ? items_->data() : nullptr; }
  [[nodiscard]] const T* end() const { return begin() + size(); }

  /// To change it; what shares it keeps the old one.
  [[nodiscard]] std::vector<T>& edit() {
    items_ =
        items_ ? std::make_shared<std::vector<T>>(*items_) : std::make_shared<std::vector<T>>();
    return *items_;
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace tangere::model
