// SPDX-License-Identifier: Apache-2.0
//
// The class Simulator: one or many environments (batch.hpp) of a model. Its parts are in the files
// of the headers they come from, and in simulator_*.cpp.
#include "bindings.hpp"
#include "core_enums.hpp"
#include "environments.hpp"
#include "simulator_arrays.hpp"
#include "struct_binding.hpp"

#include <nanobind/stl/string_view.h>

namespace tangere::python {

namespace {

void bindReports(nb::module_& m) {
  nb::enum_<StepStatus>(m, "StepStatus", "What happened in a step, as bits.", nb::is_flag(),
                        nb::is_arithmetic())
      .value("OK", StepStatus::Ok)
      .value("SOLVER_NOT_CONVERGED", StepStatus::SolverNotConverged)
      .value("STATE_NOT_FINITE", StepStatus::StateNotFinite, "the state is that before the step")
      .value("ENERGY_INJECTED", StepStatus::EnergyInjected)
      .value("QUERY_NOT_CONVERGED", StepStatus::QueryNotConverged)
      .value("IMPACTS_CUT", StepStatus::ImpactsCut)
      .value("HANDLER_REFUSED", StepStatus::HandlerRefused)
      .value("ELEMENTS_INVERTED", StepStatus::ElementsInverted)
      .value("STEP_DIVIDED", StepStatus::StepDivided)
      .value("INTEGRATOR_FAILED", StepStatus::IntegratorFailed)
      .value("TOO_MANY_CONTACTS", StepStatus::TooManyContacts)
      .value("MAY_HAVE_CROSSED", StepStatus::MayHaveCrossed)
      .value("INTERRUPTED", StepStatus::Interrupted)
      .value("ENERGY_REFUSED", StepStatus::EnergyRefused, "the state is that before the step")
      .value("OVERLAP_NOT_RESOLVED", StepStatus::OverlapNotResolved,
             "jointed bodies overlap deeply and nothing parts them")
      .value("TOO_MUCH_WORK", StepStatus::TooMuchWork,
             "more than EventOptions.max_steps or max_memory; the state is that before the step");
  using Ledger = EnergyLedger;
  bindResult<Ledger>(
      m, "EnergyLedger", "Where the energy of a step went [J]. The rows add up to rounding.",
      field("kinetic", &Ledger::kinetic, "at the end"),
      field("potential", &Ledger::potential, "at the end"),
      field("external", &Ledger::external, "work of applied forces and drives"),
      field("damping", &Ledger::damping, "of damping and dry friction of joints and tendons"),
      field("contact_normal", &Ledger::contactNormal, "work of normal impulses"),
      field("contact_friction", &Ledger::contactFriction, "negative: heat"),
      field("kinematic", &Ledger::kinematic, "work of kinematic bodies"),
      field("constraint", &Ledger::constraint, "work of limits and equalities"),
      field("correction", &Ledger::correction, "of moving bodies out of each other"),
      field("integration", &Ledger::integration, "of finite steps"),
      field("gyroscopic", &Ledger::gyroscopic, "of turning the inertia"),
      field("residual", &Ledger::residual, "what is left: rounding"))
      .def(
          "as_dict",
          [](nb::handle self) {
            nb::dict out;
            for (const char* name :
                 {"kinetic", "potential", "external", "damping", "contact_normal",
                  "contact_friction", "kinematic", "constraint", "correction", "integration",
                  "gyroscopic", "residual"})
              out[name] = self.attr(name);
            return out;
          },
          nb::sig("def as_dict(self) -> dict[str, float]"), "The rows by name.");
  using Report = StepReport;
  bindResult<Report>(
      m, "StepReport", "What the last step of an environment was like.",
      field("status", &Report::status, "OK, or bits"),
      field("num_contacts", &Report::numContacts, "points"),
      field("num_pressure_polygons", &Report::numPressurePolygons, "of pressure contacts"),
      field("num_islands", &Report::numIslands, "groups of bodies that touch or are jointed"),
      field("iterations", &Report::iterations, "largest over the islands"),
      field("num_impacts", &Report::numImpacts, "impacts with restitution"),
      field("residual", &Report::residual, "largest velocity error left [m/s]"),
      field("max_depth", &Report::maxDepth, "[m]"),
      field("error_bound", &Report::errorBound, "SAP, proven [sqrt(J)]"),
      field("friction_updates", &Report::frictionUpdates, "SAP: new bounds of friction"),
      field("friction_residual", &Report::frictionResidual, "SAP: what they are off by"),
      field("patch_error", &Report::patchError, "pressure patches: wrench that points miss"),
      field("body1", &Report::body1, "whom the status is about; -1: nobody"),
      field("body2", &Report::body2, "-1: nobody"), field("soft", &Report::soft, "-1: nobody"),
      field("soft2", &Report::soft2, "-1: nobody"),
      field("num_inverted", &Report::numInverted, "tetrahedra inside out"),
      field("linear_iterations", &Report::linearIterations, "of conjugate gradients"));
}

/// Rows of a writable array: one for each environment, or one for all.
void assign(Environments& self, std::vector<Real>& array, const ArrayLike& values,
            const char* name) {
  const Environments::Use use(self);
  const auto rows = static_cast<std::size_t>(self.size());
  const std::size_t width = array.size() / rows;
  InputArray<Real> given = toArray<Real>(values, name);
  if (given.shape.size() == 1) {
    given = toArray<Real>(values, name, {width});
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(given.data, width, array.begin() + static_cast<std::ptrdiff_t>(i * width));
  } else {
    given = toArray<Real>(values, name, {rows, width});
    std::copy_n(given.data, given.size, array.begin());
  }
  self.push();
}

using Matrix = NumpyArray<Real, nb::ndim<2>, nb::c_contig>;
using Column = NumpyArray<const Real, nb::ndim<1>, nb::c_contig>;

void bindArrays(nb::class_<Environments>& cls) {
  const auto array = [&cls](const char* name, std::vector<Real>& (Environments::*get)(),
                            const char* doc) {
    const std::string setter =
        std::string("def ") + name + "(self, values: numpy.typing.ArrayLike) -> None";
    cls.def_prop_rw(
        name,
        [get](nb::handle self) {
          Environments& environments = environmentsOf(self);
          std::vector<Real>& values = (environments.*get)();
          const auto rows = static_cast<std::size_t>(environments.size());
          return Matrix(values.data(), {rows, values.size() / rows}, self);
        },
        [get, name](Environments& self, const ArrayLike& values) {
          assign(self, (self.*get)(), values, name);
        },
        nb::for_setter(nb::arg("values").none()), nb::for_setter(nb::sig(setter.c_str())), doc);
  };
  array("q", &Environments::q,
        "Coordinates, (num_envs, num_positions): a view, no copy; the memory never moves. Every "
        "call that moves the environments fills it; what you write into it is taken over at the "
        "next call, which raises ValueError, and changes nothing, where it cannot be.");
  array("v", &Environments::v, "Velocities, (num_envs, num_velocities): a view like q.");
  array("controls", &Environments::controls,
        "What actuators are told, (num_envs, num_actuators): a view like q. Stays until it is "
        "changed; reset() makes it zero.");
  cls.def_prop_ro(
      "time",
      [](nb::handle self) {
        Environments& environments = environmentsOf(self);
        return Column(environments.time().data(), {environments.time().size()}, self);
      },
      "Time of each environment, (num_envs,) [s]: a view, read-only.");
}

void bindMotion(nb::class_<Environments>& cls) {
  cls.def(
         "step",
         [](Environments& self, const Argument<std::int64_t>& count) {
           const Environments::Use use(self);
           self.step(count.as("n"));
         },
         nb::arg("n") = 1,
         "n steps of every environment that is running. Never raises for what happens in a step: "
         "see running and report(). Releases the interpreter's lock; Ctrl-C ends it between "
         "steps.")
      .def(
          "advance_to",
          [](Environments& self, const Argument<Real>& time) {
            const Environments::Use use(self);
            self.advanceTo(time.as("time"));
          },
          nb::arg("time"),
          "Steps until the time of each environment is at least this [s]; the event solver stops "
          "exactly there.")
      .def(
          "_reset",
          [](Environments& self, const std::optional<ArrayLike>& mask) {
            const Environments::Use use(self);
            const std::vector<int> chosen = chosenBy(self, mask);
            self.push();
            self.reset(chosen);
          },
          nb::arg("mask") = nb::none(), "See reset().")
      .def(
          "reset_to_keyframe",
          [](Environments& self, nb::handle keyframe, const std::optional<ArrayLike>& mask) {
            const Environments::Use use(self);
            const int index = keyframeIndex(self.model(), keyframe);
            const std::vector<int> chosen = chosenBy(self, mask);
            self.push();
            self.reset(chosen);
            for (const int i : chosen) self.at(i).resetToKeyframe(index);
            self.pull();
          },
          nb::arg("keyframe"), nb::arg("mask") = nb::none(),
          nb::sig("def reset_to_keyframe(self, keyframe: str | int, mask: "
                  "numpy.typing.ArrayLike | None = None) -> None"),
          "Positions, velocities, controls and time of a keyframe: all, or those with a mask.");
}

void bindForces(nb::class_<Environments>& cls) {
  cls.def(
         "apply_joint_forces",
         [](Environments& self, const ArrayLike& forces) {
           const Environments::Use use(self);
           self.push();
           const auto width = static_cast<std::size_t>(self.model().numVelocities());
           const Rows rows = rowsFor(self, forces, "forces", {width});
           for (int i = 0; i < self.size(); ++i) self.at(i).applyJointForces(rows.of(i));
         },
         nb::arg("forces"),
         "On each velocity, for the next step only: (num_envs, num_velocities), or one row for "
         "all [N, N m].")
      .def(
          "actuator_forces",
          [](Environments& self) {
            const Environments::Use use(self);
            self.push();
            return gather(self, {static_cast<std::size_t>(self.model().numActuators())},
                          [&](int i, Real* out) {
                            const std::span<const Real> row = self.at(i).actuatorForces();
                            std::copy(row.begin(), row.end(), out);
                          });
          },
          "Of each actuator in the last step, (num_envs, num_actuators) [N, N m]; zero after "
          "reset(), set_state() or writing q, until the next step.")
      .def(
          "sensors",
          [](Environments& self) {
            const Environments::Use use(self);
            self.push();
            return gather(self, {static_cast<std::size_t>(self.model().numSensorValues())},
                          [&](int i, Real* out) {
                            const std::span<const Real> row = self.at(i).sensors();
                            std::copy(row.begin(), row.end(), out);
                          });
          },
          "Readings of all sensors, (num_envs, num_sensor_values); a copy.");
}

void bindInformation(nb::class_<Environments>& cls) {
  const auto ofEnvironment = [&cls](const char* name, auto get, const char* doc) {
    cls.def(
        name,
        [get](Environments& self, const Argument<int>& environment) {
          const Environments::Use use(self);
          const int index = self.checked(environment.as("env"));
          self.push();
          return get(self.at(index));
        },
        nb::arg("env") = 0, doc);
  };
  ofEnvironment(
      "report", [](const Simulator& s) { return StepReport(s.report()); },
      "What the last step of an environment was like; a copy.");
  ofEnvironment(
      "describe",
      [](const Simulator& s) {
        const bool isTaken = !isRefused(s.report().status);
        return describe(s.report(), s.model(), s.state().step + (isTaken ? 0 : 1));
      },
      "What went wrong in the last step, with names; empty where nothing did.");
  ofEnvironment(
      "energy", [](const Simulator& s) { return EnergyLedger(s.energy()); },
      "The energy ledger of the last step; after reset(), set_state() or writing q or v the energy "
      "of the state as it is, and no work.");
  ofEnvironment(
      "energy_sum", [](const Simulator& s) { return EnergyLedger(s.energySum()); },
      "The ledger summed since the start or set_state().");
  ofEnvironment(
      "profile",
      [](const Simulator& s) {
        nb::dict out;
        for (const PhaseTime& phase : s.profile())
          out[nb::cast(std::string(phase.name))] = phase.total_s;
        return nb::typed<nb::dict, nb::str, double>(out);
      },
      "Seconds spent in each phase of the step since set_profiling(True).");
  cls.def(
         "set_profiling",
         [](Environments& self, bool isOn) {
           const Environments::Use use(self);
           for (int i = 0; i < self.size(); ++i) self.at(i).setProfiling(isOn);
         },
         nb::arg("on"), "Times the phases of the step; never changes a result.")
      .def_prop_ro("model", &Environments::modelObject, nb::sig("def model(self) -> Model"),
                   "The model.")
      .def_prop_ro("num_envs", &Environments::size, "Environments.")
      .def_prop_ro("threads", &Environments::numThreads, "Threads.")
      .def_prop_ro(
          "running",
          [](Environments& self) {
            const Environments::Use use(self);
            const auto size = static_cast<std::size_t>(self.size());
            auto* flags = new bool[size];
            for (int i = 0; i < self.size(); ++i) flags[i] = self.isRunning(i);
            const nb::capsule owner(flags,
                                    [](void* p) noexcept { delete[] static_cast<bool*>(p); });
            return NumpyArray<bool, nb::ndim<1>>(flags, {size}, owner);
          },
          "False for environments that stopped because their state would not be finite; they keep "
          "the state before that and go on after reset() or set_state(). A copy.")
      .def_prop_ro(
          "steps",
          [](Environments& self) {
            const Environments::Use use(self);
            std::vector<std::uint64_t> steps;
            for (int i = 0; i < self.size(); ++i) steps.push_back(self.at(i).state().step);
            const std::size_t count = steps.size();
            return makeArray<std::uint64_t, nb::ndim<1>>(std::move(steps), {count});
          },
          "Steps taken by each environment, (num_envs,); a copy.")
      .def("__repr__", [](Environments& self) {
        return nb::str("<tangere.Simulator: {} environment(s), {} thread(s), t = {:g} s>")
            .attr("format")(self.size(), self.numThreads(), self.time()[0]);
      });
}

int visitHandlers(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const auto& handler : nb::inst_ptr<Environments>(self)->handlers())
    Py_VISIT(handler->object().ptr());
  return 0;
}

int clearHandlers(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  for (const auto& handler : nb::inst_ptr<Environments>(self)->handlers()) handler->forget();
  return 0;
}

}  // namespace

void bindSimulator(nb::module_& m) {
  bindReports(m);
  // A handler may well know its simulator: the garbage collector has to see that.
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitHandlers)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clearHandlers)},
                                {0, nullptr}};
  nb::class_<Environments> cls(m, "SimulatorBase", nb::is_weak_referenceable(),
                               nb::type_slots(slots), "See Simulator.");
  cls.def(
      "__init__",
      [](Environments* self, nb::object model, const Argument<int>& environments,
         const Argument<int>& threads) {
        if (FrozenModel* found = nullptr; !nb::try_cast(model, found, false) || found == nullptr)
          throw nb::type_error(
              ("model must be a Model, as tangere.load() and ModelBuilder.build() make it, found " +
               shownValue(model))
                  .c_str());
        new (self)
            Environments(std::move(model), environments.as("num_envs"), threads.as("threads"));
      },
      nb::arg("model").none(), nb::arg("num_envs") = 1, nb::arg("threads") = 1,
      nb::sig("def __init__(self, model: Model, num_envs: int = 1, threads: int = 1) -> None"));
  bindArrays(cls);
  bindMotion(cls);
  bindForces(cls);
  bindInformation(cls);
  bindState(m, cls);
  bindBatch(m, cls);
  bindDynamics(m, cls);
  bindContacts(m, cls);
  bindBodies(m, cls);
  bindSofts(m, cls);
  bindEvents(m, cls);
  bindCheckpoint(m, cls);
  bindContactHandler(m, cls);
}

}  // namespace tangere::python
