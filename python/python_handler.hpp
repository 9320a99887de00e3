// SPDX-License-Identifier: Apache-2.0
//
// A contact handler that is written in Python. What it raises ends the step: the environments go
// back to where they were before it, and the exception goes on to whoever called step().
#pragma once

#include "arrays.hpp"

#include <tangere/contact_handler.hpp>

#include <nanobind/nanobind.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tangere::python {

/// What a handler sees of the bodies; only for as long as detect() runs.
class SeenBodies {
 public:
  explicit SeenBodies(const HandlerView* view) : view_(view) {}

  [[nodiscard]] const HandlerView& view() const {
    if (view_ == nullptr)
      throw std::runtime_error("a HandlerView is good within detect() only: keep what you read");
    return *view_;
  }
  [[nodiscard]] int checked(int body) const {
    if (body >= -1 && body < view().numBodies()) return body;
    throw InvalidInput("there is no body " + std::to_string(body) + ": the model has " +
                       std::to_string(view().numBodies()) + "; -1 is the world");
  }
  void end() { view_ = nullptr; }

 private:
  const HandlerView* view_;
};

/// Rows as Python gives them: any number, counted when they are taken over.
struct HandlerRows {
  int body1 = -1, body2 = -1;
  std::vector<ConstraintRow> rows{};
};

/// A new array of these numbers.
[[nodiscard]] inline NumpyArray<Real> copyOf(const Real* numbers, std::vector<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  return makeArray<Real>({numbers, numbers + count}, std::move(shape));
}

class PythonHandler final : public ContactHandler {
 public:
  explicit PythonHandler(nanobind::object handler) : handler_(std::move(handler)) {}
  /// The engine may end without the interpreter's lock.
  ~PythonHandler() override;

  [[nodiscard]] int detect(const HandlerView& view) override;
  [[nodiscard]] ConstraintRows rows(int i) const override;
  void prepare(int i, Real dt, int numRows, const Real* delassus) override;
  [[nodiscard]] Real evaluate(int i, const Real* vc, Real* gamma, Real* hessian) const override;

  [[nodiscard]] nanobind::handle object() const { return handler_; }
  /// Lets go of the object, for the garbage collector.
  void forget() { handler_.reset(); }
  [[nodiscard]] bool hasFailed() const { return error_ != nullptr; }
  /// Throws what the handler raised, once.
  void rethrow();
  void dismiss() { error_ = nullptr; }

 private:
  template <class Function>
  void guard(const Function& function) const;

  nanobind::object handler_;
  std::vector<int> num_rows_;
  int num_bodies_ = 0;
  mutable std::exception_ptr error_;
};

}  // namespace tangere::python
