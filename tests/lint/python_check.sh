#!/usr/bin/env bash
# usage: python_check.sh ROOT: names that no Python file defines. Most of these files need PyTorch to run, so that
# a machine without it would never see them.
cd "$1" || exit 1
for check in 'pyflakes3' 'python3 -m pyflakes'; do
    $check --version >/dev/null 2>&1 || continue
    find peers tests tools -name '*.py' -exec $check {} +
    exit
done
echo 'skipped: no pyflakes (on Debian: pyflakes3)'
exit 77
