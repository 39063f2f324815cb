"""Reference figures for the tests of deadheat-stats, by SciPy 1.17.1 and statsmodels 0.15.0.

    pip install scipy==1.17.1 statsmodels==0.15.0
    python3 scipy_reference.py > scipy.json

Every sample is drawn from a fixed seed and stands in the output beside its figures.
"""

import itertools
import json

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

random = np.random.default_rng(20260301)


def floats(values):
    return [float(value) for value in values]


def samples(n):
    """Samples of positive values, by what is difficult about them."""
    logs = random.normal(0.0, 0.02, n)
    heavy = 0.02 * stats.t.rvs(1.5, size=n, random_state=random)
    return {
        "lognormal": 1e4 * np.exp(logs),
        "heavy tails": 1e4 * np.exp(heavy),
        "decades": 10.0 ** random.uniform(-6.0, 6.0, n),
        "ties": 1e4 + 100.0 * random.integers(0, 3, n),
        "tiny": 1e-12 * np.exp(logs),
        "huge": 1e15 * np.exp(logs),
    }


SIZES = list(range(2, 31))


def order_statistics():
    """The tightest interval from the r-th smallest to the r-th largest that reaches the level, else r = 1."""

    def achieved(n, rank):
        return 1.0 - 2.0 * stats.binom.cdf(rank - 1, n, 0.5)

    for n, level in itertools.product(SIZES + [50, 99, 200], [0.9, 0.95, 0.99]):
        reaching = [r for r in range(1, n // 2 + 1) if achieved(n, r) >= level]
        rank = max(reaching, default=1)
        yield {"n": n, "asked": level, "rank": rank, "level": float(achieved(n, rank))}


def t_quantiles():
    for freedom, probability in itertools.product([*range(1, 30), 49, 99, 199, 499, 999], [0.75, 0.95, 0.975, 0.995, 0.9995]):
        value = stats.t.ppf(probability, freedom)
        yield {"freedom": freedom, "probability": probability, "quantile": float(value)}


def summaries():
    """Medians with their intervals and geometric means with theirs."""
    for n in SIZES:
        for kind, values in samples(n).items():
            ordered = np.sort(values)
            rank = next(o["rank"] for o in order_statistics() if o["n"] == n and o["asked"] == 0.95)
            logs = np.log(values)
            case = {
                "kind": kind,
                "values": floats(values),
                "median": float(np.median(values)),
                "low": float(ordered[rank - 1]),
                "high": float(ordered[n - rank]),
                "geometric_mean": float(stats.gmean(values)),
            }
            error = stats.sem(logs)
            if error > 0.0:
                ends = np.exp(stats.t.interval(0.95, n - 1, loc=logs.mean(), scale=error))
                case["t_low"], case["t_high"] = floats(ends)
            yield case


def paired():
    """Two stacks over the same blocks: ratio, p and interval of the logarithm's mean."""
    for n, effect in itertools.product(SIZES, [1.0, 1.005, 1.05, 3.0]):
        normal = random.normal(0.0, 0.02, n)
        heavy = 0.02 * stats.t.rvs(1.5, size=n, random_state=random)
        for kind, noise in [("lognormal", normal), ("heavy tails", heavy)]:
            ratios = np.log(effect) + noise
            test = stats.ttest_1samp(ratios, 0.0)
            low, high = test.confidence_interval(0.95)
            yield {
                "kind": kind,
                "log_ratios": floats(ratios),
                "ratio": float(np.exp(ratios.mean())),
                "p": float(test.pvalue),
                "low": float(np.exp(low)),
                "high": float(np.exp(high)),
            }


def trends():
    """The line through equally spaced values: its change from start to end over the mean, and that change's error."""
    for n in range(4, 31):
        for slope, scale in [(0.0, 3.0), (-0.003, 1e3), (0.02, 1e9)]:
            y = scale * (1.0 + slope * np.arange(n) + random.normal(0.0, 0.05, n))
            line = stats.linregress(0.25 + 0.5 * np.arange(n), y)
            over = n * 0.5 / y.mean()
            yield {"values": floats(y), "change": float(line.slope * over), "error": float(line.stderr * over)}


def sessions():
    """Whole sessions: verified answers of 10 s by stack and block, and what every pair of stacks says."""
    for stacks, blocks, spread in [(2, 2, 0.01), (2, 7, 0.02), (4, 5, 0.01), (5, 10, 0.03), (8, 10, 0.01)]:
        drift = np.exp(-0.05 * np.arange(blocks) / blocks)
        speeds = 1e4 * (1.0 + 0.02 * random.integers(0, 4, stacks))
        noise = random.normal(0.0, spread, (stacks, blocks))
        answers = np.rint(10.0 * speeds[:, None] * drift * np.exp(noise)).astype(int)
        pairs = []
        for a, b in itertools.combinations(range(stacks), 2):
            if stats.gmean(answers[a] / answers[b]) < 1.0:
                a, b = b, a
            test = stats.ttest_rel(np.log(answers[a]), np.log(answers[b]))
            low, high = test.confidence_interval(0.95)
            pairs.append({
                "faster": a,
                "slower": b,
                "ratio": float(stats.gmean(answers[a] / answers[b])),
                "p": float(test.pvalue),
                "low": float(np.exp(low)),
                "high": float(np.exp(high)),
            })
        adjusted = multipletests([pair["p"] for pair in pairs], method="holm")[1]
        for pair, p in zip(pairs, adjusted):
            pair["p_adjusted"] = float(p)
            pair["different"] = bool(p < 0.05 and pair["ratio"] > 1.01)
        better = lambda stack: sum(p["different"] and p["slower"] == stack for p in pairs)
        ranks = [1 + better(stack) for stack in range(stacks)]
        yield {"answers": answers.tolist(), "pairs": pairs, "ranks": ranks}


def holm():
    for n in [1, 2, 3, 6, 28, 120]:
        for power in [1, 4, 12]:
            p = random.uniform(0.0, 1.0, n) ** power
            p[: n // 3] = p[0]
            yield {"p": floats(p), "adjusted": floats(multipletests(p, method="holm")[1])}


parts = [order_statistics, t_quantiles, summaries, paired, trends, sessions, holm]
lines = []
for part in parts:
    rows = ",\n".join(json.dumps(row) for row in part())
    lines.append(f'"{part.__name__}": [\n{rows}\n]')
print("{\n" + ",\n".join(lines) + "\n}")
