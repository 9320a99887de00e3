// SPDX-License-Identifier: Apache-2.0
#include "python_handler.hpp"

#include "argument.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tangere::python {

namespace {

/// Throws InvalidInput, with the number that is wrong, for what the solver would refuse.
void requirePossible(const HandlerRows& given, int numBodies) {
  const auto refuse = [](const std::string& why) { throw InvalidInput("rows() gave " + why); };
  for (const int body : {given.body1, given.body2})
    if (body < -1 || body >= numBodies)
      refuse("body " + std::to_string(body) + ": the model has " + std::to_string(numBodies) +
             "; -1 is the world");
  if (given.body1 == given.body2)
    refuse("body " + std::to_string(given.body1) + " twice, expected two that move apart");
  const auto isFinite = [](const Vec3& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  };
  for (std::size_t row = 0; row < given.rows.size(); ++row)
    for (const auto& [what, vector] :
         {std::pair<const char*, Vec3>{"a direction", given.rows[row].direction},
          {"a point1", given.rows[row].point1},
          {"a point2", given.rows[row].point2}})
      if (!isFinite(vector))
        refuse(std::string(what) + " that is not finite, in row " + std::to_string(row));
}

ConstraintRows toRows(const HandlerRows& given, int numBodies) {
  requirePossible(given, numBodies);
  if (given.rows.empty() || given.rows.size() > ConstraintRows::kMaxRows)
    throw InvalidInput("a constraint has 1 to " + std::to_string(ConstraintRows::kMaxRows) +
                       " rows, found " + std::to_string(given.rows.size()));
  ConstraintRows out;
  out.body1 = given.body1;
  out.body2 = given.body2;
  out.numRows = static_cast<int>(given.rows.size());
  std::copy(given.rows.begin(), given.rows.end(), out.row.begin());
  return out;
}

void copyFinite(const InputArray<Real>& from, const char* what, Real* to) {
  for (std::size_t k = 0; k < from.size; ++k) {
    if (!std::isfinite(from.data[k]))
      throw InvalidInput(std::string("evaluate() gave ") + what + " that is not finite");
    to[k] = from.data[k];
  }
}

}  // namespace

PythonHandler::~PythonHandler() {
  const nb::gil_scoped_acquire acquire;
  handler_.reset();
  error_ = nullptr;
}

/// After the first exception nothing is asked any more.
template <class Function>
void PythonHandler::guard(const Function& function) const {
  const nb::gil_scoped_acquire acquire;
  if (error_) return;
  try {
    function();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void PythonHandler::rethrow() {
  if (!error_) return;
  std::exception_ptr error;
  std::swap(error, error_);
  std::rethrow_exception(error);
}

int PythonHandler::detect(const HandlerView& view) {
  int count = 0;
  num_bodies_ = view.numBodies();
  guard([&] {
    const nb::object seen = nb::cast(SeenBodies(&view));
    try {
      count = convert<int>(handler_.attr("detect")(seen), "what detect() returns");
    } catch (...) {
      nb::cast<SeenBodies&>(seen).end();
      throw;
    }
    nb::cast<SeenBodies&>(seen).end();
    constexpr int kMost = 1 << 20;
    if (count < 0 || count > kMost)
      throw InvalidInput("detect() must give the number of constraints, found " +
                         std::to_string(count));
    num_rows_.assign(static_cast<std::size_t>(count), 0);
  });
  return error_ ? 0 : count;
}

ConstraintRows PythonHandler::rows(int i) const {
  ConstraintRows out;
  guard([&] {
    out =
        toRows(convert<HandlerRows>(handler_.attr("rows")(i), "what rows() returns"), num_bodies_);
  });
  return out;
}

void PythonHandler::prepare(int i, Real dt, int numRows, const Real* delassus) {
  guard([&] {
    num_rows_[static_cast<std::size_t>(i)] = numRows;
    const auto n = static_cast<std::size_t>(numRows);
    handler_.attr("prepare")(i, dt, copyOf(delassus, {n, n}));
  });
}

Real PythonHandler::evaluate(int i, const Real* vc, Real* gamma, Real* hessian) const {
  const auto n = static_cast<std::size_t>(num_rows_[static_cast<std::size_t>(i)]);
  Real cost = 0;
  std::fill_n(gamma, n, Real(0));
  if (hessian != nullptr) std::fill_n(hessian, n * n, Real(0));
  guard([&] {
    const nb::object given = handler_.attr("evaluate")(i, copyOf(vc, {n}));
    if (!nb::isinstance<nb::tuple>(given) || nb::len(given) != 3)
      throw nb::type_error("evaluate() must return a cost, an impulse and a Hessian");
    const Real found = convert<Real>(given[0], "the cost of evaluate()");
    const InputArray<Real> impulse =
        toArray<Real>({nb::object(given[1])}, "the impulse of evaluate()", {n});
    const InputArray<Real> curvature =
        toArray<Real>({nb::object(given[2])}, "the Hessian of evaluate()", {n, n});
    if (!std::isfinite(found)) throw InvalidInput("evaluate() gave a cost that is not finite");
    copyFinite(impulse, "an impulse", gamma);
    if (hessian != nullptr) copyFinite(curvature, "a Hessian", hessian);
    cost = found;
  });
  return cost;
}

}  // namespace tangere::python
