"""Prints `N passed, M failed` for one `bazel test`, counted in test cases.

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


def cases(uri):
    """The (passed, failed) cases of one test.xml."""
    path = urllib.request.url2pathname(urllib.parse.urlparse(uri).path)
    passed = failed = 0
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        skipped = case.find("skipped") is not None or case.get("status") == "notrun"
        failed += bad
        passed += not bad and not skipped
    return passed, failed


def count(events):
    """The (passed, failed) cases of all events."""
    passed = failed = 0
    for event in events:
        result = event.get("testResult")
        if result:
            files = {file["name"]: file["uri"] for file in result.get("testActionOutput", [])}
            good, bad = cases(files["test.xml"]) if "test.xml" in files else (0, 0)
            passed += good
            failed += bad if result["status"] == "PASSED" else max(bad, 1)
        elif "completed" in event:
            failed += not event["completed"].get("success", False)
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
