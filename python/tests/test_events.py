# SPDX-License-Identifier: Apache-2.0
"""The event solver: when contacts begin and end, and what they are like."""

from __future__ import annotations

import math

import pytest

import tangere
from conftest import make_box_model

HEIGHT, RADIUS = 1.0, 0.1


def ball_over_block(contact: str = "hertz") -> tangere.Model:
    builder = tangere.ModelBuilder()
    builder.set_options(solver="event", dt=0.01)
    builder.add_material(
        tangere.Material(
            "steel", density=7800, restitution=0.8, contact=contact, youngs_modulus=2e8,
            poisson_ratio=0.3,
        )
    )
    block = tangere.BodyShape(tangere.Box([1, 1, 0.5]), pose=[0, 0, -0.5], material="steel")
    ball = tangere.BodyShape(tangere.Sphere(RADIUS), material="steel")
    builder.add_body(tangere.Body("block", type="fixed", shapes=[block]))
    builder.add_body(tangere.Body("ball", shapes=[ball], pose=[0, 0, RADIUS + HEIGHT]))
    return builder.build("drop")


def test_a_falling_ball_meets_the_block_when_it_must() -> None:
    sim = tangere.Simulator(ball_over_block())
    falls = math.sqrt(2 * HEIGHT / 9.81)
    sim.advance_to(falls + 0.1)
    assert sim.time[0] == falls + 0.1  # exactly there
    events = sim.events()
    assert [event.cause for event in events] == [
        tangere.EventCause.CONTACT_BEGINS,
        tangere.EventCause.CONTACT_ENDS,
    ]
    begin, end = events
    assert isinstance(begin, tangere.EventRecord)
    assert begin.time == pytest.approx(falls, abs=1e-6)
    assert begin.time < end.time < begin.time + 0.01
    assert begin.approach_speed == pytest.approx(math.sqrt(2 * 9.81 * HEIGHT), rel=1e-5)
    assert abs(begin.normal[2]) == pytest.approx(1.0)
    assert {sim.model.body_names[begin.body1], sim.model.body_names[begin.body2]} == {
        "ball",
        "block",
    }
    text = sim.describe_event(begin)
    assert "z[2]" in text and "distance(" in text
    speed = sim.body("ball").linear_velocity[0, 2] + 9.81 * (sim.time[0] - end.time)
    assert speed == pytest.approx(0.8 * begin.approach_speed, rel=0.02)
    work = sim.event_statistics()
    assert isinstance(work, tangere.EventStatistics)
    assert work.num_events >= 2 and work.num_steps > 10


def test_contacts_are_seen_with_their_rates_while_they_last() -> None:
    sim = tangere.Simulator(ball_over_block())
    sim.advance_to(math.sqrt(2 * HEIGHT / 9.81) + 1e-4)
    (contact,) = sim.contact_results()
    assert isinstance(contact, tangere.ContactResult)
    assert contact.penetration > 0
    assert contact.penetration_rate > 0
    assert contact.normal_force > 0
    assert contact.force[2] == pytest.approx(contact.normal[2] * contact.normal_force)
    (seen,) = sim.contact_results(frame="ball")
    assert abs(seen.position[2]) == pytest.approx(RADIUS, rel=0.05)
    with pytest.raises(tangere.InvalidInput, match="did you mean 'ball'"):
        sim.contact_results(frame="bal")


def test_two_that_begin_at_a_state_go_on_to_the_same_bits() -> None:
    model = ball_over_block()
    sim = tangere.Simulator(model)
    sim.step(40)
    saved = sim.state()
    sim.set_state(saved)  # the integrator begins anew, here and there
    sim.step(40)
    other = tangere.Simulator(model, num_envs=2, threads=2)
    other.set_state(saved)
    other.step(40)
    assert other.state_hash(0) == other.state_hash(1) == sim.state_hash()
    assert len(other.events(1)) == len(sim.events())
    unbroken = tangere.Simulator(model)
    unbroken.step(80)
    assert unbroken.body("ball").position == pytest.approx(sim.body("ball").position, abs=1e-6)
    other.advance_to(float(other.time[0]) + 0.005)
    assert other.time[1] == other.time[0]


def test_observed_contacts_are_reported_and_press_on_nothing() -> None:
    sim = tangere.Simulator(ball_over_block("observer"))
    sim.advance_to(0.6)
    assert tangere.EventCause.CONTACT_BEGINS in [event.cause for event in sim.events()]
    assert sim.body("ball").linear_velocity[0, 2] == pytest.approx(-9.81 * 0.6, rel=1e-6)


def test_other_solvers_have_no_events() -> None:
    sim = tangere.Simulator(make_box_model())
    sim.step(5)
    assert sim.events() == []
    assert sim.contact_results() == []
    assert sim.event_statistics().num_events == 0
