#!/usr/bin/python3
"""Run the tests of the Python tools; the totals are written as GoogleTest writes them.
usage: run.py WASP MPIEXEC [PATTERN]"""
import os
import pathlib
import sys
import unittest

os.environ["WASP"], os.environ["MPIEXEC"] = os.path.abspath(sys.argv[1]), sys.argv[2]
here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here), str(here.parents[1] / "jobs"), str(here.parents[1] / "results")]
tests = unittest.defaultTestLoader
if len(sys.argv) > 3:
    tests.testNamePatterns = [f"*{sys.argv[3]}*"]
outcome = unittest.TextTestRunner(verbosity=2).run(tests.discover(str(here), pattern="test_*.py"))
if not outcome.testsRun:
    sys.exit("no tests were run")
bad = len(outcome.failures) + len(outcome.errors) + len(outcome.unexpectedSuccesses)
if outcome.skipped:
    print(f"[  SKIPPED ] {len(outcome.skipped)} tests.")
print(f"[  PASSED  ] {outcome.testsRun - bad - len(outcome.skipped)} tests.")
if bad:
    print(f"[  FAILED  ] {bad} tests, listed below:")
    for test, _ in outcome.failures + outcome.errors:
        print(f"[  FAILED  ] {test}")
sys.exit(bad > 0)
