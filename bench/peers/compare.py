#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tangere against its peers: every bar of docs/performance.md, from the CSV files of the harness.

  compare.py RAW.csv [RAW.csv ...] [--golden by_pair.csv] [--fails] [--only W1.manifold] [--csv out.csv]

RAW.csv are the files the harness writes (`peer_x --variant v --w w1 --out v.w1.csv`, any number,
any mix of peers and workloads; a peer's row that occurs more than once counts with its fastest run).
For every row: ours, the fastest peer whose answers are right, the ratio, the bar, pass or FAIL.
Then the geometric means. Exit status 1 when a bar is missed.

"Right" is the harness's own rule (its tools/summarize.py): hit rate within 0.01 of the truth in all
three regimes (0.05 for meshes), mean distance within 1e-3 of coal's; with --golden (the output of
its `check_golden.py --by pair --csv`) also at most --cut of wrong booleans and of depths or distances
off by more than 1e-2. Our own rows have to be right by the same rule: otherwise they fail, however
fast."""
import argparse
import collections
import csv
import math
import re
import statistics
import sys

OURS = "tangere"
REGIMES = ("separated", "shallow", "deep")

Key = collections.namedtuple("Key", "workload shape1 shape2 n")


def number(note, name):
    match = re.search(name + r"=(-?[0-9.]+)", note)
    return float(match.group(1)) if match else None


class Measurements:
    """time[key][peer] in ns, and which of them come with right answers."""

    def __init__(self, files, golden, cut):
        self.time = collections.defaultdict(dict)
        self.note = {}
        self.manifold_cases = []
        self.cut = cut
        for name in files:
            with open(name, newline="") as stream:
                for row in csv.DictReader(stream):
                    self._add(row)
        self.golden = {}
        if golden:
            with open(golden, newline="") as stream:
                for row in csv.DictReader(stream):
                    counts = {c: int(v) for c, v in row.items() if c not in ("result", "group")}
                    self.golden[row["result"].split(".")[0], row["group"]] = counts
        self.right = {(key, peer): self._is_right(key, peer) for key in self.time for peer in self.time[key]}
        self._one_wrong_regime_disqualifies()

    def _add(self, row):
        if row.get("case"):
            self.manifold_cases.append(row)
            return
        if not row.get("workload") or not row.get("mean_ns"):
            return
        n = row["n"] if row["workload"].startswith("W3") else ""
        key = Key(row["workload"], row["shape1"], row["shape2"], n)
        time = float(row["mean_ns"])
        if row["peer"] not in self.time[key] or time < self.time[key][row["peer"]]:
            self.time[key][row["peer"]] = time
            self.note[key, row["peer"]] = row["notes"]

    def _is_right(self, key, peer):
        note = self.note[key, peer]
        query = ".".join(key.workload.split(".")[:2])
        golden = self.golden.get((peer, "-".join(sorted((key.shape1, key.shape2)))))
        share = lambda wrong, total: golden[wrong] / golden[total] if golden[total] else 0.0
        truth = 0 if "separated" in key.workload else 1
        if query in ("W1.bool", "W1.contact1", "W1.manifold"):
            hit = number(note, "hit")
            if hit is None or abs(hit - truth) > 0.01:
                return False
            if golden and share("bool_wrong", "bool_n") > self.cut:
                return False
            if golden and query != "W1.bool" and share("depth>1e-2", "depth_n") > self.cut:
                return False
        if query in ("W1.distance", "W2.distance"):
            mean = {p: number(self.note[key, p], "mean_dist") for p in self.time[key]}
            reference = mean.get("coal", statistics.median(mean.values()))
            if not abs(mean[peer] - reference) <= 1e-3:
                return False
            if golden and share("dist>1e-2", "dist_n") > self.cut:
                return False
        if query == "W2.bool":
            hit = number(note, "hit")
            if hit is None or abs(hit - truth) > 0.05:
                return False
        return True

    def _one_wrong_regime_disqualifies(self):
        for key in self.time:
            query, _, regime = key.workload.rpartition(".")
            if query not in ("W1.bool", "W1.contact1", "W1.manifold"):
                continue
            for peer in self.time[key]:
                others = [key._replace(workload=query + "." + r) for r in REGIMES]
                if not all(self.right.get((other, peer), True) for other in others):
                    self.right[key, peer] = False

    def fastest(self, key, accept=lambda peer: True):
        """(peer, ns) of the fastest right peer that is not ours; None without one."""
        found = [(t, p) for p, t in self.time[key].items()
                 if not p.startswith(OURS) and self.right[key, p] and accept(p)]
        return (min(found)[1], min(found)[0]) if found else None


class Report:
    def __init__(self, options):
        self.options = options
        self.rows = []
        self.failed = []

    def section(self, title):
        if self.options.only is None:
            print("\n" + title)

    def bar(self, name, ours, peer, theirs, limit, remark="", broken=False):
        """One line; `broken` marks an answer of ours that is not right, which no speed makes good."""
        ratio = ours / theirs
        passed = ratio <= limit and not broken
        self.rows.append((name, ours, peer, theirs, ratio, limit, "pass" if passed else "FAIL", remark))
        if not passed:
            self.failed.append(self.rows[-1])
        wanted = self.options.only is None or self.options.only in name
        if wanted and not (self.options.fails and passed):
            print("%-52s %12.1f  %-14s %12.1f  %6.3fx  (<= %.2f)  %s %s" %
                  (name, ours, peer, theirs, ratio, limit, "pass" if passed else "FAIL", remark))

    def check(self, name, passed, text):
        self.rows.append((name, "", "", "", "", "", "pass" if passed else "FAIL", text))
        if not passed:
            self.failed.append(self.rows[-1])
        wanted = self.options.only is None or self.options.only in name
        if wanted and not (self.options.fails and passed):
            print("%-52s %s  %s" % (name, text, "pass" if passed else "FAIL"))


def name_of(key):
    return " ".join(part for part in key if part)


def sorted_keys(measured, prefix):
    keys = [k for k in measured.time if k.workload.startswith(prefix) and OURS in measured.time[k]]
    return sorted(keys, key=lambda k: (k.workload, k.n.zfill(9), k.shape1, k.shape2))


def pair_rows(measured, report):
    report.section("Every pair row: at most 1.0x the fastest right peer [ns]")
    for key in sorted_keys(measured, "W1") + sorted_keys(measured, "W4"):
        anchor = measured.fastest(key)
        right = measured.right[key, OURS]
        remark = "" if right else "OUR ANSWER IS NOT RIGHT: " + measured.note[key, OURS]
        if anchor:
            report.bar(name_of(key), measured.time[key][OURS], *anchor, 1.0, remark, broken=not right)
        elif not right:
            report.check(name_of(key), False, remark)


def geometric_means(measured, report):
    report.section("Geometric means over the pairs that both answer [ns]")

    def against(query, regime, peer, limit):
        keys = [k for k in sorted_keys(measured, query + "." + regime) if peer in measured.time[k]]
        if not keys:
            return
        mean = lambda p, ks: math.exp(sum(math.log(measured.time[k][p]) for k in ks) / len(ks))
        right = [k for k in keys if measured.right[k, peer]]
        remark = "%d pairs" % len(keys)
        if right and len(right) < len(keys):
            remark += "; on the %d it answers rightly: %.3fx" % (len(right), mean(OURS, right) / mean(peer, right))
        report.bar("geomean %s.%s" % (query, regime), mean(OURS, keys), peer, mean(peer, keys), limit, remark)

    for regime in ("shallow", "deep"):
        against("W1.manifold", regime, "mujoco", 0.6)
        against("W1.manifold", regime, "coal", 0.25)
    against("W1.distance", "separated", "coal", 0.6)
    for regime in ("separated", "shallow"):
        against("W1.bool", regime, "coal", 0.5)


def warm_rows(measured, report):
    report.section("Coherent queries: warm at most 0.5x our own cold, geometric mean [ns]")
    for query in ("W4.distance", "W4.manifold"):
        for regime in ("separated", "shallow"):
            logs = []
            for key in sorted_keys(measured, "%s.warm.%s" % (query, regime)):
                cold = key._replace(workload="%s.cold.%s" % (query, regime))
                if OURS in measured.time.get(cold, {}):
                    logs.append((math.log(measured.time[key][OURS]), math.log(measured.time[cold][OURS]), key))
            if not logs:
                continue
            mean = lambda i: math.exp(sum(x[i] for x in logs) / len(logs))
            detail = " ".join("%s-%s %.2f" % (k.shape1, k.shape2, math.exp(w - c)) for w, c, k in logs)
            report.bar("geomean %s.%s warm/cold" % (query, regime), mean(0), "ours cold", mean(1), 0.5, detail)


def mesh_rows(measured, report):
    report.section("Meshes and height fields: at most 0.5x the fastest right peer, distance 0.2x coal, "
                   "build 1.0x Bullet [ns]")
    for key in sorted_keys(measured, "W2"):
        ours = measured.time[key][OURS]
        right = measured.right[key, OURS]
        remark = "" if right else "OUR ANSWER IS NOT RIGHT: " + measured.note[key, OURS]
        if key.workload == "W2.build":
            anchor = measured.fastest(key, lambda peer: peer.startswith("bullet"))
            if anchor:
                report.bar(name_of(key), ours, *anchor, 1.0)
            continue
        if key.workload.startswith("W2.distance") and "coal" in measured.time[key]:
            report.bar(name_of(key), ours, "coal", measured.time[key]["coal"], 0.2, remark, broken=not right)
        anchor = measured.fastest(key)
        if anchor:
            report.bar(name_of(key), ours, *anchor, 0.5, remark, broken=not right)


def broad_phase_rows(measured, report):
    report.section("Broad phase [ns per body per step]")

    def key(share, n):
        return Key("W3.broadphase.move%s%%" % share, "aabb", "aabb", str(n))

    for share in ("1", "100"):
        for n in (1000, 10000, 100000):
            row = measured.time.get(key(share, n), {})
            if OURS in row:
                note = measured.note[key(share, n), OURS]
                pairs, exact = number(note, "pairs"), number(note, "exact")
                report.check("W3 move%s%% n=%d pairs" % (share, n), pairs == exact, "%d of %d exact" % (pairs, exact))
    for n in (10000, 100000):
        row = measured.time.get(key("100", n), {})
        if OURS in row and "fcl" in row:
            report.bar("W3 move100% all pairs n=" + str(n), row[OURS], "fcl", row["fcl"], 0.5)
        row = measured.time.get(key("1", n), {})
        bullets = [(t, p) for p, t in row.items() if p.startswith("bullet")]
        if OURS in row and bullets:
            report.bar("W3 move1%% all pairs n=%d" % n, row[OURS], min(bullets)[1], min(bullets)[0], 0.5)
        if OURS + "-moved" in row and "fcl" in row:
            report.bar("W3 move1%% movers' pairs n=%d" % n, row[OURS + "-moved"], "fcl", row["fcl"], 0.05)
    small, large = measured.time.get(key("100", 10000), {}), measured.time.get(key("100", 100000), {})
    if OURS in small and OURS in large:
        # n log n in all is log n per body.
        report.bar("W3 growth 10k to 100k per body", large[OURS], "ours at 10k", small[OURS], math.log(1e5) / math.log(1e4),
                   "n log n")


def manifold_rows(measured, report):
    cases = [row for row in measured.manifold_cases if row["peer"] == OURS]
    if not cases:
        return
    report.section("Box-box manifolds with a known answer")
    for row in cases:
        error, stray = float(row["max_abs_depth_err"]), int(row["stray_points"])
        depth_off = abs(float(row["max_depth"]) - float(row["true_max_depth"]))
        text = "%s points (%s touching), depth error %.1e, normal %s deg, area %s, stray %d, %s ns" % (
            row["points"], row["touching"], error, row["normal_err_deg"], row["area_ratio"], stray, row["ns"])
        # 1e-9 of a box about 1 m across; the edge-edge depth is the separation along the normal.
        report.check("W5 " + row["case"], (error <= 1e-9 or row["case"] == "edge_edge") and depth_off <= 1e-9 and stray == 0, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--golden", help="check_golden.py --by pair --csv of the peers")
    parser.add_argument("--cut", type=float, default=0.05)
    parser.add_argument("--fails", action="store_true", help="print only what misses its bar")
    parser.add_argument("--only", help="print only rows whose name contains this")
    parser.add_argument("--csv", help="write all rows there")
    options = parser.parse_args()
    measured = Measurements(options.files, options.golden, options.cut)
    if not any(OURS in peers for peers in measured.time.values()) and not measured.manifold_cases:
        sys.exit("compare.py: no row of peer '%s' in the files given" % OURS)
    report = Report(options)
    for part in (pair_rows, geometric_means, warm_rows, mesh_rows, broad_phase_rows, manifold_rows):
        part(measured, report)
    if options.csv:
        with open(options.csv, "w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["row", "ours_ns", "peer", "peer_ns", "ratio", "bar", "verdict", "remark"])
            writer.writerows(report.rows)
    print("\n%d rows, %d pass, %d FAIL" % (len(report.rows), len(report.rows) - len(report.failed), len(report.failed)))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
