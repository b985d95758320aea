"""Prints which targets failed and the end of what each printed, the slowest tests, and `N passed, M failed`
in test cases.

Usage: count_cases.py EVENTS STATUS, with the --build_event_json_file and the exit status of Bazel.
A target that did not build, or that failed after all its cases had passed (a sanitizer's report
at exit), counts as one failure. Exits with 1 when anything failed or nothing ran.
"""
import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree

NO_TESTS_FOUND = 4  # Bazel's exit status
SHOWN_LINES = 40  # of a failed test's output
SLOWEST = 10  # tests that are listed


def path_of(uri):
    return urllib.request.url2pathname(urllib.parse.urlparse(uri).path)


def cases(uri):
    """The (passed, failed) cases of one test.xml."""
    passed = failed = 0
    try:
        tree = xml.etree.ElementTree.parse(path_of(uri))
    except (OSError, xml.etree.ElementTree.ParseError):  # The test was ended while it wrote.
        return 0, 1
    for case in tree.iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None or case.get("status") == "notrun"
        failed += bad
        passed += not bad and not skipped
    return passed, failed


def show_failure(target, files):
    """Prints the target's name and, if it ran, the end of its output."""
    print(f"FAILED: {target}")
    if "test.log" in files:
        with open(path_of(files["test.log"]), encoding="utf-8", errors="replace") as log:
            print("".join("    " + line for line in log.readlines()[-SHOWN_LINES:]))


def show_slowest(seconds):
    """Prints which tests took longest; seconds: a dictionary by target."""
    print(f"{sum(seconds.values()):.0f} s in {len(seconds)} tests; the slowest:")
    for target in sorted(seconds, key=seconds.get, reverse=True)[:SLOWEST]:
        print(f"{seconds[target]:8.1f} s  {target}")


def count(events):
    """The (passed, failed) cases of all events; shows what failed, and the slowest tests."""
    passed = failed = 0
    seconds = {}  # what was not run again counts as well
    for event in events:
        result = event.get("testResult")
        if result:
            target = event["id"]["testResult"]["label"]
            seconds[target] = seconds.get(target, 0) + int(result.get("testAttemptDurationMillis", 0)) / 1000
            files = {file["name"]: file["uri"] for file in result.get("testActionOutput", [])}
            good, bad = cases(files["test.xml"]) if "test.xml" in files else (0, 0)
            passed += good
            if result["status"] != "PASSED":
                show_failure(target, files)
            failed += bad if result["status"] == "PASSED" else max(bad, 1)
        elif "completed" in event and not event["completed"].get("success", False):
            show_failure(event["id"]["targetCompleted"]["label"] + " did not build", {})
            failed += 1
    show_slowest(seconds)
    return passed, failed


def main(events_path, status):
    with open(events_path, encoding="utf-8") as lines:
        passed, failed = count(json.loads(line) for line in lines)
    if int(status) not in (0, NO_TESTS_FOUND):
        failed = max(failed, 1)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
