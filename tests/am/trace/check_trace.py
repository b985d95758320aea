"""Checks a trace of a job: check_trace.py TRACE PROCESSES [--counts FILE] [--dropped].

The trace event format, slices of a thread that lie in one another or apart, arrows with two ends of
which the second is not before the first. FILE has lines "<rank> <what> <count>": slices of that name,
or, after the word "category", of that category. With --dropped events are missing, else none is.
Prints how much there is; exit code 1 and a sentence if something is wrong.
"""

import argparse
import bisect
import collections
import itertools
import json
import sys

ROUNDED = 0.0021  # microseconds: two times that were rounded to nanoseconds


def wrong(sentence):
    sys.exit("check_trace: " + sentence)


def check_event(event, processes):
    phase = event.get("ph")
    if phase not in ("X", "M", "i", "s", "f"):
        wrong(f"phase {phase!r}: {event}")
    for key in ("pid", "tid"):
        if not isinstance(event.get(key), int):
            wrong(f"{key} is no number: {event}")
    if not 0 <= event["pid"] < processes:
        wrong(f"no such process: {event}")
    if not isinstance(event.get("name"), str) or not event["name"]:
        wrong(f"no name: {event}")
    for key in ("ts", "dur") if phase == "X" else ("ts",) if phase != "M" else ():
        if not isinstance(event.get(key), (int, float)) or event[key] < 0:
            wrong(f"{key} is no time: {event}")
    if phase in "sf" and not isinstance(event.get("id"), str):
        wrong(f"no id: {event}")


def check_nesting(slices):
    """Slices of one thread; those that begin together: the longer one is outside."""
    slices.sort(key=lambda one: (one["ts"], -one["dur"]))
    outside = []
    for one in slices:
        end = one["ts"] + one["dur"]
        while outside and outside[-1] <= one["ts"] + ROUNDED:
            outside.pop()
        if outside and end > outside[-1] + ROUNDED:
            wrong(f"a slice ends after the one that it begins in, at {outside[-1]}: {one}")
        outside.append(end)


def within(slices):
    """Whether a moment is in one of them, by a function of it."""
    slices = sorted((one["ts"], one["ts"] + one["dur"]) for one in slices)
    ends = list(itertools.accumulate((end for _, end in slices), max))

    def is_within(ts):
        before = bisect.bisect_right(slices, (ts + ROUNDED, float("inf")))
        return before > 0 and ends[before - 1] + ROUNDED >= ts

    return is_within


def check_arrows(events, slices):
    ends = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["id"]].append(event)
    begins = collections.defaultdict(set)
    for thread, all_slices in slices.items():
        begins[thread] = {(one["ts"], one["cat"]) for one in all_slices}
    is_within = {thread: within(all_slices) for thread, all_slices in slices.items()}
    for both in ends.values():
        if sorted(one["ph"] for one in both) != ["f", "s"]:
            wrong(f"an arrow has not two ends: {both}")
        first, last = sorted(both, key=lambda one: one["ph"] == "f")
        if last["ts"] < first["ts"]:
            wrong(f"an arrow ends {first['ts'] - last['ts']:.3f} us before it begins: {both}")
        if not is_within[first["pid"], first["tid"]](first["ts"]):
            wrong(f"an arrow begins outside all slices: {first}")
        where = begins[last["pid"], last["tid"]]
        if not {(last["ts"], "handler"), (last["ts"], "callback")} & where:
            wrong(f"an arrow ends where no handler begins: {last}")
    return len(ends)


def check_counts(path, slices, processes):
    found = collections.Counter()
    for (process, _), all_slices in slices.items():
        for one in all_slices:
            found[process, one["name"]] += 1
            found[process, "category " + one["cat"]] += 1
    ranks = set()
    for line in open(path):
        rank, what = int(line.split()[0]), " ".join(line.split()[1:-1])
        count = int(line.split()[-1])
        ranks.add(rank)
        if found[rank, what] != count:
            wrong(f"rank {rank} counted {count} of '{what}', and the trace has {found[rank, what]}")
    if len(ranks) != processes:
        wrong(f"counts of {len(ranks)} processes instead of {processes}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("processes", type=int)
    parser.add_argument("--counts")
    parser.add_argument("--dropped", action="store_true")
    options = parser.parse_args()
    with open(options.trace, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    for event in events:
        check_event(event, options.processes)
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    if {process for process, _ in slices} != set(range(options.processes)):
        wrong("not every process has slices")
    for all_slices in slices.values():
        check_nesting(all_slices)
    arrows = check_arrows(events, slices)
    dropped = trace["otherData"]["dropped_events"]
    if (dropped != 0) != options.dropped:
        wrong(f"{dropped} events were dropped")
    said = [one for one in events if one["ph"] == "i" and "events are missing" in one["name"]]
    if bool(said) != options.dropped:
        wrong(f"{len(said)} processes say that events are missing")
    categories = collections.Counter(one["cat"] for all in slices.values() for one in all)
    replies = sum(one["name"].startswith("reply ") for all in slices.values() for one in all)
    messages = categories["request"] + replies
    if not options.dropped and not messages <= arrows <= messages + categories["channel"]:
        wrong(f"{arrows} arrows for {messages} messages and {categories['channel']} puts")
    if options.counts:
        check_counts(options.counts, slices, options.processes)
    print(f"{len(events)} events, {arrows} arrows,", dict(categories))


main()
