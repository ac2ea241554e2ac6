"""Tables of siblings: means ± standard deviations over the seeds."""
import numpy

from .families import differing

# heading, name in the summary, factor, digits
COLUMNS = [("s to target", "time_to_accuracy", 1, 2), ("thousand images to it", "samples_to_accuracy", 1e-3, 1),
           ("updates to it", "updates_to_accuracy", 1, 0), ("final accuracy in %", "final_accuracy", 100, 2),
           ("samples/s", "samples_per_second", 1, 0), ("staleness", "staleness_mean", 1, 2),
           ("p95", "staleness_p95", 1, 0), ("step mass", "step_mass", 1, 2), ("idle %", "idle_share", 100, 0)]
# Of runs where each worker has a model of its own.
OWN_MODELS = [("differing answers in %", "disagreement", 100, 2), ("spread of the weights", "spread", 1, 3),
              ("test loss − training loss", "train_test_gap", 1, 4)]


def mean_sd(values, factor, digits):
    """'mean ± sd' of those that are known."""
    known = factor * numpy.asarray(values, dtype=float)
    known = known[numpy.isfinite(known)]
    if not len(known):
        return "–"
    return f"{known.mean():.{digits}f}" + (f" ± {known.std(ddof=1):.{digits}f}" if len(known) > 1 else "")


def descriptions(siblings):
    """(headings, cells): what each is, in as many columns as differ."""
    keys = differing(siblings)
    facts = [("workers", lambda run: run.workers), ("nodes", lambda run: run.nodes),
             ("threads", lambda run: run.threads), ("batch", lambda run: run.config.get("batch", "–"))]
    facts += [(key, lambda run, key=key: run.options().get(key, "–")) for key in keys]
    cells = {heading: [str(fact(group.first)) for group in siblings] for heading, fact in facts}
    shown = [heading for heading, values in cells.items() if len(set(values)) > 1]
    rows = [[str(group.first.config.get("protocol", "–")), *(cells[heading][number] for heading in shown)]
            for number, group in enumerate(siblings)]
    return ["protocol", *shown], rows


def reached(group):
    targets = [run for run in group.runs if numpy.isfinite(float(run.summary.get("target_accuracy", numpy.nan)))]
    return f"{sum(bool(run.summary['reached']) for run in targets)}/{len(targets)}" if targets else "–"


def summary_table(siblings):
    """[[heading, …], [cell, …], …]"""
    headings, rows = descriptions(siblings)
    body = [row + [str(len(group.runs)), reached(group)]
            + [mean_sd(group.values(name), factor, digits) for _, name, factor, digits in COLUMNS]
            for row, group in zip(rows, siblings)]
    return [headings + ["runs", "reached", *(heading for heading, *_ in COLUMNS)], *body]


def models_table(siblings):
    """Where a run ended with several models: what they are worth alone, as a mean and as an ensemble. Or None."""
    if not any({"mean", "ensemble"} & set(run.models) for group in siblings for run in group.runs):
        return None
    headings, rows = descriptions(siblings)
    body = []
    for row, group in zip(rows, siblings):
        models = [{"best": run.models.get("shared", numpy.nan)} | run.models for run in group.runs]
        accuracies = [mean_sd([each.get(name, numpy.nan) for each in models], 100, 2)
                      for name in ("best", "mean", "ensemble")]
        first, last = zip(*(run.divergence_quarters() for run in group.runs))
        body.append(row + accuracies + [mean_sd(first, 1, 5), mean_sd(last, 1, 5)]
                    + [mean_sd(group.values(name), factor, digits) for _, name, factor, digits in OWN_MODELS])
    return [headings + ["best by validation in %", "mean model in %", "ensemble in %",
                        "divergence, first quarter", "last quarter", *(heading for heading, *_ in OWN_MODELS)], *body]


def best_of_tuned(siblings, plan):
    """Of each group that differs in the tuned option only, the siblings that have all the seeds. Or None."""
    option = (plan or {}).get("tuned")
    if not option:
        return None
    groups = {}
    for group in siblings:
        groups.setdefault(group.first.sibling(option), []).append(group)
    lower = plan["tuned_by"] != "final_accuracy"

    def rank(group):
        values = numpy.array([float(run.summary.get(plan["tuned_by"], numpy.nan)) for run in group.runs])
        values = numpy.where(numpy.isfinite(values), values, numpy.inf if lower else -numpy.inf)
        return -len(values), values.mean() if lower else -values.mean()
    return [min(members, key=rank) for members in groups.values()]


def tables_of(siblings, plan):
    """[(caption, table)]"""
    if not siblings:
        return []
    best = best_of_tuned(siblings, plan)
    tables = [(f"Each at its best {plan['tuned']}", summary_table(best))] if best else []
    tables.append(("All runs, by what differs", summary_table(siblings)))
    models = models_table(siblings)
    return tables + ([("Several models", models)] if models else [])


def markdown(table):
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table]
    return "\n".join([lines[0], "|" + "---|" * len(table[0]), *lines[1:]])
