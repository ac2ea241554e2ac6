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


def rounded_to_bf16(e):
    bits = e.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(F)


def largest(e, ratio):
    kept = np.argsort(-np.abs(e), kind="stable")[:math.ceil(ratio * len(e))]
    q = np.zeros_like(e)
    q[kept] = e[kept]
    return q


QUANTISERS = {
    "none": lambda e: e,
    "fp16": lambda e: e.astype(np.float16).astype(F),
    "bf16": rounded_to_bf16,
    "topk:0.25": lambda e: largest(e, 0.25),
}


class Compressor:
    """Error feedback: what a push leaves out is added to the next."""

    def __init__(self, name):
        self.quantise, self.e = QUANTISERS[name], np.zeros(N, F)

    def compress(self, u):
        self.e = self.e + u
        q = self.quantise(self.e)
        self.e = self.e - q
        return q


class Shared:
    """What the workers of a shared-weights protocol have in common."""

    def __init__(self, workers):
        self.theta, self.issued, self.done = start(), 0, 0
        self.clock, self.met = [0] * workers, [0] * workers
        self.retired = [False] * workers
        self.sum, self.arrived, self.u = np.zeros(N, F), 0, np.zeros(N, F)  # of the server
        self.mean_square, self.q = np.zeros(N, F), np.zeros(N, F)

    def all_there(self, counts, least):
        return all(r or c >= least for c, r in zip(counts, self.retired))


def shared_worker(me, case, common, log, final):
    """WASP, ASP and SSP: weight(s, P), drop from R, lead S, period T, trigger."""
    workers, sgd, compressor = case.workers, Sgd(**case.sgd), Compressor(case.compress)
    x, v, period, next_sync = common.theta.copy(), 0, case.period, case.period * workers
    mean, seen = 0.0, 0
    for step in range(case.steps[me]):
        yield
        g, _ = toy(x, me, step)
        s = common.issued - v
        if s >= case.drop:
            log.append((s, 0.0))
        else:
            u = compressor.compress(sgd.update(g, x))
            common.issued += 1
            w = case.weight(s, workers)
            if case.mass_one:
                seen += 1
                mean += (w - mean) / min(seen, 100)
                w = w / (workers * mean)
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


def served_worker(me, case, common, log, final):
    """Rules with a server's side: corrections, groups of gradients, momentum at the server, sums of steps."""
    workers, sgd, plain = case.workers, Sgd(**case.sgd), Sgd(**{**case.sgd, "momentum": 0.0, "nesterov": False})
    x, v, gathered, compressor = common.theta.copy(), 0, np.zeros(N, F), Compressor(case.compress)
    mu = F(case.sgd.get("momentum", 0))
    server = case.server_momentum and mu > 0

    def group():
        return min(case.group, common.retired.count(False)) if case.sync else case.group

    def complete():
        d = common.sum / F(common.arrived)
        common.sum, common.arrived = np.zeros(N, F), 0
        if server:
            common.u = mu * common.u + d
            d = mu * common.u + d if sgd.nesterov else common.u
        common.q = F(0.999) * common.q + (F(1) - F(0.999)) * (d / sgd.rate) ** 2
        common.theta = common.theta + d
        common.issued += 1
        common.done += 1

    for step in range(case.steps[me]):
        yield
        g, _ = toy(x, me, step)
        s = common.done - v
        brings = (step + 1) % case.n_push == 0 or step + 1 == case.steps[me]
        if not brings:
            log.append((0, 1.0))
        elif s >= case.drop:
            log.append((s, 0.0))
        else:
            log.append((s, case.weight(s, workers) / case.group))
        if not brings or s < case.drop:
            if case.correct:
                g = case.correct(g, common.theta - x, common)
            d = (plain if server else sgd).update(g, x)
            if case.n_push > 1:
                x, gathered = x + d, gathered + d
            else:
                gathered = d
        if brings and s < case.drop:
            common.sum = common.sum + F(case.weight(s, workers)) * compressor.compress(gathered)
            common.arrived += 1
            gathered = np.zeros(N, F)
            if common.arrived >= group():
                complete()
        common.clock[me] += 1
        while not common.all_there(common.clock, common.clock[me] - case.lead):
            yield
        if case.sync:
            while common.done == v and common.arrived < group():
                yield
            if common.done == v:
                complete()
        if (step + 1) % case.n_fetch == 0:
            v, x = common.done, common.theta.copy()
    yield
    common.retired[me] = True
    if all(common.retired) and common.arrived:
        complete()
    while not all(common.retired):
        yield


def delay_compensated(lambda0, m):
    """DC-ASGD; m is None: constant λ."""
    def correct(g, moved, common):
        if m is None:
            return g + F(lambda0) * g * g * moved
        common.mean_square = F(m) * common.mean_square + (F(1) - F(m)) * g * g
        return g + F(lambda0) / np.sqrt(common.mean_square + F(1e-7)) * g * g * moved
    return correct


def gap_aware(rate):
    def correct(g, moved, common):
        if common.done == 0:
            return g
        usual = F(rate) * (np.sqrt(common.q / F(1 - 0.999**common.done)) + F(1e-8))
        return g / (F(1) + abs(moved) / usual)
    return correct


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


def averaging(case):
    """Local SGD with slow momentum, in lock-step. Who is through brings its last steps into one more mean."""
    P = case.workers
    x, sgd, t = [start() for _ in range(P)], [Sgd(**case.sgd) for _ in range(P)], [0] * P
    anchor, slow = start(), np.zeros(N, F)
    while True:
        since = [0] * P
        for k in range(P):
            while t[k] < case.steps[k]:
                x[k] = x[k] + sgd[k].update(toy(x[k], k, t[k])[0], x[k])
                t[k] += 1
                since[k] += 1
                if t[k] <= case.post or (t[k] - case.post) % case.H == 0:
                    break
        active = [k for k in range(P) if since[k]]
        if not active:
            return anchor
        mean = sum(x[k] for k in active) / F(len(active))
        block = F(case.alpha) * (mean - anchor)
        slow = F(case.beta) * slow + block
        anchor = anchor + (block + F(case.beta) * slow if case.look_ahead else slow)
        u = sum(sgd[k].u for k in active) / F(len(active))
        for k in range(P):
            x[k] = anchor
            if case.velocity_is == "mean":
                sgd[k].u = u
            elif case.velocity_is == "reset":
                sgd[k].u = np.zeros(N, F)


def easgd_worker(me, case, common, log, final):
    sgd, x = Sgd(**{**case.sgd, **case.own_sgd}), start()
    for t in range(1, case.steps[me] + 1):
        yield
        x = x + sgd.update(toy(x, me, t - 1)[0], x)
        if t % case.tau:
            log.append((0, 1.0))
            continue
        d = F(case.alpha) * (x - common.theta)
        x = x - d
        common.theta = common.theta + d
        common.issued += 1
        common.done += 1
        log.append((0, case.alpha))
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


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
        self.x, self.changes = [start() for _ in range(workers)], [0] * workers  # of live models


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


def dpsgd_worker(me, case, common, log, final):
    P, sgd, x = case.workers, Sgd(**case.sgd), start()
    ring = {(me - 1) % P, (me + 1) % P} - {me}
    for t in range(1, case.steps[me] + 1):
        yield
        u = sgd.update(toy(x, me, t - 1)[0], x)
        common.shown[me].append((t, 0, x))
        for r in sorted(ring, key=lambda r: (me - 1) % P != r):
            while len(common.shown[r]) < t and not common.retired[r]:
                yield
        seen = [common.shown[r][min(t, len(common.shown[r])) - 1] for r in ring if common.shown[r]]
        x = sum((y for _, _, y in seen), x) / F(len(seen) + 1) + u
        log.append((max([t - s for s, _, _ in seen] + [0]), 1.0))
    final[me] = x
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


def lsgd_worker(me, case, common, log, final):
    P, sgd, x, f = case.workers, Sgd(**case.sgd), start(), F(0)
    for t in range(1, case.steps[me] + 1):
        yield
        g, loss = toy(x, me, t - 1)
        f = loss if t == 1 else F(0.9) * f + (F(1) - F(0.9)) * loss
        x = x + sgd.update(g, x)
        age = 0
        if (t + me * case.tau // P) % case.tau == 0:
            common.shown[me].append((t, f, x))
            step, _, leader = min((shown[-1] for shown in common.shown if shown), key=lambda sight: sight[1])
            if leader is not x:
                x, age = x + F(case.p[0]) * (leader - x), max(0, t - step)
        log.append((age, 1.0))
    final[me] = x
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


def sgp_worker(me, case, common, log, final):
    P, sgd, x, w = case.workers, Sgd(**case.sgd), start(), F(1)
    hops = 1 + int(math.log2(P - 1))
    for t in range(1, case.steps[me] + 1):
        yield
        z = x / w
        x = x + sgd.update(toy(z, me, t - 1)[0], z)
        if t > 2:  # the one that was to take my publication t − 2
            taker = (me + 2 ** ((t - 3) % hops)) % P
            while len(common.shown[taker]) < t - 1 and not common.retired[taker]:
                yield
        common.shown[me].append((x, w))
        giver, taker = (me - 2 ** ((t - 1) % hops)) % P, (me + 2 ** ((t - 1) % hops)) % P
        for r in (giver, taker):
            while len(common.shown[r]) < t and not common.retired[r]:
                yield
        if len(common.shown[taker]) >= t:
            x, w = x / F(2), w / F(2)
        if len(common.shown[giver]) >= t:
            y, v = common.shown[giver][t - 1]
            x, w = x + y / F(2), w + v / F(2)
        log.append((0, 1.0))
    final[me] = x / w
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield


def adpsgd_worker(me, case, common, log, final):
    P, sgd, changes = case.workers, Sgd(**case.sgd), 0
    draw = RandomStream(1, "adpsgd neighbour", me)
    ring = sorted({(me - 1) % P, (me + 1) % P} - {me}, key=lambda r: (me - 1) % P != r)
    others = ring if case.ring else [r for r in range(P) if r != me]
    x = start()
    for t in range(case.steps[me]):
        yield
        u = sgd.update(toy(x, me, t)[0], x)
        log.append((common.changes[me] - changes, 1.0))
        j = others[draw.below(len(others))]
        mean = (common.x[me] + common.x[j]) / F(2)
        common.x[me], common.x[j] = mean + u, mean
        common.changes[j] += 1
        x, changes = common.x[me], common.changes[me]
    yield
    common.retired[me] = True
    while not all(common.retired):
        yield
    final[me] = common.x[me]


class Case:
    def __init__(self, spec, workers=3, servers=0, steps=(20, 17, 13), sgd=None, **rule):
        self.spec, self.workers, self.servers, self.steps = spec, workers, servers, steps
        self.sgd = sgd or {}
        self.weight, self.drop, self.lead = (lambda s, P: 1.0), math.inf, math.inf
        self.period, self.trigger = 10**9, "iterations"  # longer than any run here
        self.compress = "none"
        self.tau, self.target, self.p, self.velocity, self.wait = 16, "mean", (0.01, 0.5), False, False
        self.H, self.post, self.beta, self.alpha, self.velocity_is = 8, 0, 0, 1, "keep"
        self.own_sgd, self.ring, self.mass_one, self.look_ahead = {}, True, False, False
        self.group, self.sync, self.correct, self.n_push, self.n_fetch, self.server_momentum = 1, False, None, 1, 1, False
        self.__dict__.update(rule)


LOCK_STEP = {"bsp": bsp, "localsgd": averaging, "slowmo": averaging, "bmuf": averaging}
CENTRED = {"easgd": easgd_worker, "eamsgd": easgd_worker}
CENTRED.update(dict.fromkeys(("backup", "downpour", "softsync", "dcasgd", "gapaware"), served_worker))
OWN_MODELS = {"nosync": nosync_worker, "dpsgd": dpsgd_worker, "lsgd": lsgd_worker, "sgp": sgp_worker,
              "adpsgd": adpsgd_worker}


def run(case, seed):
    """Prints the case. Line by line: what the C++ has to set, the script, then what it must find."""
    final, logs, script = {}, [[] for _ in range(case.workers)], []
    name = case.spec.partition(":")[0]
    if name in LOCK_STEP:
        final = {0: LOCK_STEP[name](case)}  # one model for all
    else:
        own = name in OWN_MODELS
        worker = OWN_MODELS.get(name) or CENTRED.get(name, shared_worker)
        if case.server_momentum:
            worker = served_worker
        common = (Boards if own else Shared)(case.workers)
        turns = [worker(k, case, common, logs[k], final) for k in range(case.workers)]
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
    print("sgd", sgd["momentum"], sgd["decay"], int(sgd["nesterov"]), sgd["rate"], int(case.server_momentum))
    if case.compress != "none":
        print("compress", case.compress)
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
            Case("backup", sgd=sgd, group=2, sync=True, drop=1),
            Case("backup:b=0", sgd=sgd, group=3, sync=True, drop=1),
            Case("backup:b=2,servers=1", sgd=sgd, group=1, sync=True, drop=1, servers=1),
            Case("downpour:n_push=3,n_fetch=4", sgd=sgd, n_push=3, n_fetch=4),
            Case("downpour", sgd=sgd, n_push=5, n_fetch=5),
            Case("downpour:n_push=1,n_fetch=2", sgd=sgd, n_push=1, n_fetch=2),
            Case("softsync", sgd=sgd, weight=WEIGHTS["inverse1"]),
            Case("softsync:n=1", sgd=sgd, weight=WEIGHTS["inverse1"], group=3),
            Case("softsync:n=1,servers=1", sgd=sgd, weight=WEIGHTS["inverse1"], group=3, servers=1),
            Case("consgd:S=2", sgd=sgd, lead=2, weight=WEIGHTS["mean"]),
            Case("dynsgd", sgd=sgd, lead=3, weight=WEIGHTS["inverse"]),
            Case("dcasgd", sgd=sgd, correct=delay_compensated(2, 0.95)),
            Case("dcasgd:l0=0.5,m=0.8,servers=1", sgd=sgd, correct=delay_compensated(0.5, 0.8), servers=1),
            Case("dcasgd:lambda=constant", sgd=sgd, correct=delay_compensated(0.04, None)),
            Case("gapaware", sgd=sgd, correct=gap_aware(sgd.get("rate", 0.05))),
            Case("localsgd:H=4", sgd=sgd, H=4),
            Case("localsgd:H=5,post=6,velocity=reset", sgd=sgd, H=5, post=6, velocity_is="reset"),
            Case("localsgd:H=3,velocity=mean", sgd=sgd, H=3, velocity_is="mean"),
            Case("slowmo:H=4", sgd=sgd, H=4, beta=0.5),
            Case("slowmo:H=3,beta=0.4,alpha=0.8,velocity=reset", sgd=sgd, H=3, beta=0.4, alpha=0.8, velocity_is="reset"),
            Case("bmuf:H=6", sgd=sgd, H=6, beta=0.875),
            Case("easgd:tau=3", sgd=sgd, tau=3, alpha=0.3),
            Case("easgd:tau=1,beta=0.6,servers=1", sgd=sgd, tau=1, alpha=0.2, servers=1),
            Case("eamsgd:tau=4,mu=0.8", sgd=sgd, tau=4, alpha=0.3, own_sgd={"momentum": 0.8, "nesterov": True}),
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
                Case("dpsgd", **ring),
                Case("adpsgd", **ring),
                Case("adpsgd:graph=complete", ring=False, **ring),
                Case("sgp", **ring),
                Case("lsgd:tau=3,p=0.4", tau=3, p=(0.4, 0.4), **ring),
            ]
    cases += [Case("wasp:period=7", sgd=NESTEROV, period=7, weight=WEIGHTS["inverse"]), Case("bsp", sgd=NESTEROV)]
    cases += [Case(f"wasp:weight={name},period=inf,servers=1", servers=1, weight=w) for name, w in WEIGHTS.items()]
    for sgd in (HEAVY, NESTEROV):  # momentum at the server
        kept = {"sgd": sgd, "server_momentum": True}
        cases += [
            Case("asp", **kept),
            Case("ssp:S=1", lead=1, **kept),
            Case("wasp:period=inf", weight=WEIGHTS["inverse"], **kept),
            Case("wasp:weight=drop,R=3,period=inf,servers=1", drop=3, servers=1, **kept),
            Case("backup", group=2, sync=True, drop=1, **kept),
            Case("downpour:n_push=2,n_fetch=3", n_push=2, n_fetch=3, **kept),
            Case("softsync:n=1", weight=WEIGHTS["inverse1"], group=3, **kept),
            Case("dcasgd", correct=delay_compensated(2, 0.95), **kept),
            Case("gapaware", correct=gap_aware(sgd["rate"]), **kept),
        ]
    for sgd in ({}, HEAVY):
        cases += [
            Case("bmuf:H=4,momentum=nesterov,beta=0.6,alpha=0.9", sgd=sgd, H=4, beta=0.6, alpha=0.9, look_ahead=True),
            Case("wasp:period=5,mass=one", sgd=sgd, period=5, weight=WEIGHTS["inverse"], mass_one=True),
            Case("softsync:n=1", sgd=sgd, weight=WEIGHTS["inverse1"], group=4, workers=4, steps=(14, 13, 12, 12)),
        ]
    for compress in ("fp16", "bf16", "topk:0.25"):
        made_smaller = {"sgd": HEAVY, "compress": compress}
        cases += [
            Case("asp", **made_smaller),
            Case("ssp:S=2,servers=1", lead=2, servers=1, **made_smaller),
            Case("wasp:period=5", period=5, weight=WEIGHTS["inverse"], **made_smaller),
            Case("wasp:weight=drop,R=3,period=5", period=5, drop=3, **made_smaller),
            Case("downpour:n_push=3,n_fetch=4", n_push=3, n_fetch=4, **made_smaller),
        ]
    for seed, case in enumerate(cases):
        run(case, seed)


main()
