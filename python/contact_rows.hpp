// SPDX-License-Identifier: Apache-2.0
//
// Contacts as rows of structured arrays, with the names of who touches: of a simulator as of a
// recording.
#pragma once

#include "arrays.hpp"

#include <tangere/simulator.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tangere::python {

class ContactRows {
 public:
  ContactRows();
  ~ContactRows();
  /// Of one environment. `state` knows which points make a patch; null: nobody does.
  void add(int env, std::span<const ContactForce> contacts, const State* state);
  [[nodiscard]] nb::object array(const std::vector<std::string>& bodyNames) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class PolygonRows {
 public:
  PolygonRows();
  ~PolygonRows();
  void add(int env, std::span<const PressurePolygon> polygons);
  [[nodiscard]] nb::object array(const std::vector<std::string>& bodyNames,
                                 const std::vector<std::string>& softNames) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tangere::python
