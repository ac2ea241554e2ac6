#!/usr/bin/python3
"""Reference for the protocols: what 50 updates in a scripted order of events make of the weights.

usage: make_protocol_golden.py > protocols.txt      (needs numpy)

Written from the formulas of docs/PROTOCOLS.md with numpy in float32, independently of the C++. Each
worker is a generator that yields where it hands its turn on: before each exchange, and whenever it
has to wait. Who gets the next turn is drawn here and written down as the script; the C++ test gives
turns to its ranks in the same order.
"""
import math
import random

import numpy as np

F = np.float32
N = 37  # weights; no multiple of any number of ranks


def toy(weights, worker, step):
    """Gradient and loss of a small nonlinear problem; test/support/toy.hpp has the same."""
    i = np.arange(N)
    target = (((i * 7 + worker * 13 + step * 5) % 17 - 8) / 8).astype(F)
    d = weights - target
    gradient = (d + F(0.125) * (weights - np.roll(weights, -1))) + F(0.25) * (weights * weights * weights)
    loss = F(0)
    for value in d:
        loss += value * value
    return gradient, loss / F(N)


def start():
    return ((np.arange(N) % 5 - 2) / 4).astype(F)


class Sgd:
    def __init__(self, momentum=0.0, decay=0.0, nesterov=False, rate=0.05):
        self.mu, self.decay, self.nesterov, self.rate = F(momentum), F(decay), nesterov, F(rate)
        self.u = np.zeros(N, F)

    def update(self, g, x):
        fall = self.rate * (g + self.decay * x)
        self.u = self.mu * self.u - fall
        return self.mu * self.u - fall if self.nesterov else self.u


class Shared:
    """What the workers of a shared-weights protocol have in common."""

    def __init__(self, workers):
        self.theta, self.issued, self.done = start(), 0, 0
        self.clock, self.met = [0] * workers, [0] * workers
        self.retired = [False] * workers

    def all_there(self, counts, least):
        return all(r or c >= least for c, r in zip(counts, self.retired))


def shared_worker(me, case, common, log):
    """WASP, ASP and SSP: weight(s, P), drop from R, lead S, period T, trigger."""
    workers, sgd = case.workers, Sgd(**case.sgd)
    x, v, period, next_sync = common.theta.copy(), 0, case.period, case.period * workers
    for step in range(case.steps[me]):
        yield
        g, _ = toy(x, me, step)
        s = common.issued - v
        if s >= case.drop:
            log.append((s, 0.0))
        else:
            u = sgd.update(g, x)
            common.issued += 1
            w = case.weight(s, workers)
            common.theta = common.theta + F(w) * u
            common.done += 1
            log.append((s, w))
        common.clock[me] += 1
        while not common.all_there(common.clock, common.clock[me] - case.lead):
            yield
        if case.trigger == "versions":
            due = common.done >= next_sync
        else:
            due = (step + 1) % period == 0
        if due:
            for meeting in range(2):
                common.met[me] += 1
                while not common.all_there(common.met, common.met[me]):
                    yield
                if meeting == 0:
                    assert common.issued == common.done
                    v, x = common.done, common.theta.copy()
            next_sync = (v // (period * workers) + 1) * period * workers
        else:
            v, x = common.done, common.theta.copy()
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


def bsp(case):
    """In lock-step, so it needs no script. Workers that are through contribute nothing."""
    x, sgd = start(), Sgd(**case.sgd)
    for step in range(max(case.steps)):
        active = [k for k in range(case.workers) if case.steps[k] > step]
        total = np.zeros(N, F)
        for k in active:
            total = total + toy(x, k, step)[0]
        x = x + sgd.update(total / F(len(active)), x)
    return x


MASK = (1 << 64) - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class RandomStream:
    """base/random.hpp: splitmix64, seeded by (seed, purpose, rank, epoch)."""

    GAMMA = 0x9E3779B97F4A7C15

    def __init__(self, seed, purpose, rank):
        self.state = mix((seed + self.GAMMA) & MASK)
        for value in list(purpose.encode()) + [rank, 0]:
            self.state = mix(self.state ^ mix((value + self.GAMMA) & MASK))

    def below(self, limit):
        while True:
            self.state = (self.state + self.GAMMA) & MASK
            value = mix(self.state)
            if value >= (1 << 64) % limit:
                return value % limit


class Boards:
    def __init__(self, workers):
        self.shown = [[] for _ in range(workers)]  # of each rank all publications: step, f, x
        self.retired = [False] * workers


def nosync_worker(me, case, common, log, final):
    workers, sgd = case.workers, Sgd(**case.sgd)
    x, f, target = start(), F(0), None
    draw = RandomStream(1, "nosync target", me)
    ring = sorted({(me - 1) % workers, (me + 1) % workers} - {me}, key=lambda r: (me - 1) % workers != r)
    offset = 0 if case.wait else me * case.tau // workers
    for t in range(1, case.steps[me] + 1):
        yield
        g, loss = toy(x, me, t - 1)
        f = loss if t == 1 else F(0.9) * f + (F(1) - F(0.9)) * loss
        p = F(case.p[0] + (case.p[1] - case.p[0]) * t / case.steps[me])
        step = sgd.update(g, x)
        if case.velocity and target is not None:
            sgd.u = sgd.u + (F(1) - sgd.mu) * p * (target - x)
            step = sgd.u
        x = x + step
        if (t + offset) % case.tau:
            log.append((0, 1.0))
            continue
        common.shown[me].append((t, f, x.copy()))
        number = len(common.shown[me])
        seen = []
        if case.wait:
            for r in ring:
                while len(common.shown[r]) < number and not common.retired[r]:
                    yield
        for r in ring:
            if common.shown[r]:
                behind = len(common.shown[r]) < number
                seen.append(common.shown[r][-1 if behind or not case.wait else number - 1])
        log.append((max([t - s for s, _, _ in seen] + [0]), 1.0))
        if not seen:
            target = None
        elif case.target == "mean":
            target = sum(y for _, _, y in seen) / F(len(seen))
        elif case.target == "best":
            best = min(seen, key=lambda sight: sight[1])
            target = best[2] if best[1] < f else None
        elif case.target == "random":
            target = seen[draw.below(len(seen))][2]
        else:
            shares = [math.exp(-float(loss)) for _, loss, _ in seen]
            target = sum(F(a / sum(shares)) * y for a, (_, _, y) in zip(shares, seen))
        if target is not None and not case.velocity:
            x = x + p * (target - x)
    final[me] = x
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


class Case:
    def __init__(self, spec, workers=3, servers=0, steps=(20, 17, 13), sgd=None, **rule):
        self.spec, self.workers, self.servers, self.steps = spec, workers, servers, steps
        self.sgd = sgd or {}
        self.weight, self.drop, self.lead = (lambda s, P: 1.0), math.inf, math.inf
        self.period, self.trigger = 10**9, "iterations"  # longer than any run here
        self.tau, self.target, self.p, self.velocity, self.wait = 16, "mean", (0.01, 0.5), False, False
        self.__dict__.update(rule)


def run(case, seed):
    """Prints the case. Line by line: what the C++ has to set, the script, then what it must find."""
    final, logs, script = {}, [[] for _ in range(case.workers)], []
    if case.spec.startswith("bsp"):
        final = {0: bsp(case)}  # one model for all
    else:
        own = case.spec.startswith("nosync")
        common = (Boards if own else Shared)(case.workers)
        if own:
            turns = [nosync_worker(k, case, common, logs[k], final) for k in range(case.workers)]
        else:
            turns = [shared_worker(k, case, common, logs[k]) for k in range(case.workers)]
        for turn in turns:
            next(turn)  # up to the first exchange
        alive, dice = list(range(case.workers)), random.Random(seed)
        while alive:
            k = dice.choice(alive)
            script.append(k)
            try:
                next(turns[k])
            except StopIteration:
                alive.remove(k)
        if not own:
            assert common.issued == common.done
            final = {0: common.theta}
    sgd = {"momentum": 0.0, "decay": 0.0, "nesterov": False, "rate": 0.05, **case.sgd}
    print("case", case.spec, case.workers, case.servers)
    print("sgd", sgd["momentum"], sgd["decay"], int(sgd["nesterov"]), sgd["rate"])
    print("steps", *case.steps)
    print("script", *script)
    for log in logs:
        print("records", *(f"{s}:{w:.9g}" for s, w in log))
    for k in sorted(final):
        print("weights", *(f"{value:.9g}" for value in final[k]))


HEAVY = {"momentum": 0.9, "decay": 0.01, "rate": 0.02}
NESTEROV = {**HEAVY, "nesterov": True}
TABLE = (1.0, 0.7, 0.2)  # golden/weights.txt
WEIGHTS = {
    "inverse": lambda s, P: 1 / (1 + s),
    "inverse1": lambda s, P: 1 / max(s, 1),
    "poly": lambda s, P: 1 / math.sqrt(1 + s),
    "poly,a=2": lambda s, P: 1 / (1 + s) ** 2,
    "hinge": lambda s, P: 1.0 if s <= 4 else 1 / (10 * (s - 4) + 1),
    "hinge,a=2,b=1": lambda s, P: 1.0 if s <= 1 else 1 / (2 * (s - 1) + 1),
    "bound": lambda s, P: 10 / (10 + s),
    "bound,B=2": lambda s, P: 2 / (2 + s),
    "exp,a=0.5": lambda s, P: math.exp(-0.5 * s),
    "concurrency": lambda s, P: 1.0 if s <= P else P / s,
    "constant": lambda s, P: 1.0,
    "mean": lambda s, P: 1 / P,
    "table,table=test/golden/weights.txt": lambda s, P: TABLE[min(s, 2)],
}


def main():
    cases = []
    for sgd in ({}, HEAVY):
        cases += [
            Case("asp", sgd=sgd),
            Case("asp:scale=mean", sgd=sgd, weight=lambda s, P: 1 / P),
            Case("ssp", sgd=sgd, lead=3),
            Case("ssp:S=0", sgd=sgd, lead=0),
            Case("ssp:S=1,servers=1", sgd=sgd, lead=1, servers=1),
            Case("wasp:period=5", sgd=sgd, period=5, weight=WEIGHTS["inverse"]),
            Case("wasp:period=1,weight=mean", sgd=sgd, period=1, weight=WEIGHTS["mean"]),
            Case("wasp:period=5,trigger=versions", sgd=sgd, period=5, trigger="versions", weight=WEIGHTS["inverse"]),
            Case("wasp:period=4,trigger=versions,servers=1", sgd=sgd, period=4, trigger="versions", servers=1,
                 weight=WEIGHTS["inverse"]),
            Case("wasp:weight=drop,R=3,period=5", sgd=sgd, period=5, drop=3, weight=WEIGHTS["constant"]),
            Case("bsp", sgd=sgd),
        ]
        for workers, steps in ((3, (20, 17, 13)), (4, (14, 13, 12, 11))):
            ring = {"workers": workers, "steps": steps, "sgd": sgd}
            cases += [
                Case("nosync:tau=4", tau=4, **ring),
                Case("nosync:tau=2,p=0.3,exchange=sendrecv", tau=2, p=(0.3, 0.3), wait=True, **ring),
                Case("nosync:tau=3,target=best,p=0.4", tau=3, target="best", p=(0.4, 0.4), **ring),
                Case("nosync:tau=2,target=random", tau=2, target="random", **ring),
                Case("nosync:tau=2,target=weighted,p=0.5..0.1", tau=2, target="weighted", p=(0.5, 0.1), **ring),
                Case("nosync:tau=3,apply=velocity", tau=3, velocity=True, **ring),
            ]
    cases += [Case("wasp:period=7", sgd=NESTEROV, period=7, weight=WEIGHTS["inverse"]), Case("bsp", sgd=NESTEROV)]
    cases += [Case(f"wasp:weight={name},period=inf,servers=1", servers=1, weight=w) for name, w in WEIGHTS.items()]
    for seed, case in enumerate(cases):
        run(case, seed)


main()
