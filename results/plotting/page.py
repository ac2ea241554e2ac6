"""One page of a study that needs nothing else: configuration, tables, pictures, and what failed."""
import base64
import collections
import html

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:.85em}th,td{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:right}
th:first-child,td:first-child{text-align:left}th{border-bottom:2px solid #222;vertical-align:bottom}
.wide{overflow-x:auto}.numbers td{white-space:nowrap}.words td,.words th{text-align:left}
pre{background:#f4f4f4;padding:1em;overflow-x:auto}img{max-width:100%;height:auto}
.bad{border-left:.3em solid #D55E00;padding-left:1em}"""

FACTS = ("git_commit", "cpu_model", "cluster", "kernels", "hosts", "dataset", "dataset_sha256")


def table_html(table, kind="numbers"):
    """kind: words are set flush left and may be broken into lines"""
    head, *body = table
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in body)
    heads = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    return (f'<div class="wide"><table class="{kind}"><thead><tr>{heads}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table></div>\n")


def picture_html(path, meaning):
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    meaning = html.escape(meaning)
    return f'<h2>{meaning}</h2>\n<img alt="{meaning}" src="data:image/png;base64,{content}">\n'


def problems_html(problems):
    if not problems:
        return "<p>No run failed, none is missing.</p>\n"
    rows = [["run", "status", "why, or what it said last"], *([name, status, why] for name, status, why in problems)]
    return f'<div class="bad"><h2>What failed or is missing</h2>\n{table_html(rows, "words")}</div>\n'


def facts_of(runs):
    """Where and with what: each value that occurs."""
    table = [["fact", "values"]]
    for name in FACTS:
        values = collections.Counter(str(run.provenance.get(name, "")) for run in runs)
        values.pop("", None)
        shown = "; ".join(f"{value} ({count} runs)" if len(values) > 1 else value
                          for value, count in values.most_common(8))
        if shown:
            table.append([name, shown])
    return table


def runs_table(runs):
    table = [["run", "status", "seed", "final accuracy in %", "training seconds", "samples/s"]]
    for run in runs:
        numbers = [float(run.summary.get(name, "nan")) for name in ("final_accuracy", "training_seconds",
                                                                    "samples_per_second")]
        table.append([run.path.stem, run.status, str(run.config.get("seed", "")), f"{100 * numbers[0]:.2f}",
                      f"{numbers[1]:.2f}", f"{numbers[2]:.0f}"])
    return table


def write_page(path, name, collection, tables, pictures):
    """pictures: [(PNG file, meaning)]"""
    counts = collections.Counter(run.status for run in collection.runs)
    counts.update(status for _, status, _ in collection.problems)
    title = f"Study {name}"
    parts = [f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
             '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">\n'
             f"<style>{STYLE}</style></head>\n<body><h1>{html.escape(title)}</h1>\n",
             f"<p>{sum(counts.values())} runs: "
             + html.escape(", ".join(f"{count} {status}" for status, count in sorted(counts.items()))) + ".</p>\n",
             problems_html(collection.problems)]
    for caption, table in tables:
        parts.append(f"<h2>{html.escape(caption)}</h2>\n<p>Means ± standard deviations over the seeds.</p>\n")
        parts.append(table_html(table))
    if pictures and collection.plan and collection.plan.get("tuned"):
        parts.append(f"<p>The pictures show each at its best {html.escape(collection.plan['tuned'])}.</p>\n")
    parts += [picture_html(picture, meaning) for picture, meaning in pictures]
    if collection.plan:
        parts.append(f"<h2>Configuration</h2>\n<p>{html.escape(collection.plan['study'])}</p>\n"
                     f"<pre>{html.escape(collection.plan['configuration'])}</pre>\n")
    parts.append(f"<h2>Where and with what</h2>\n{table_html(facts_of(collection.runs), 'words')}")
    parts.append(f"<details><summary>Every run</summary>\n{table_html(runs_table(collection.runs))}</details>\n")
    parts.append("<p>WASP and NoSync are reconstructions after their public abstracts.</p></body></html>\n")
    path.write_text("".join(parts), encoding="utf-8")
