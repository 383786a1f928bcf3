# shellcheck shell=bash
# Sourced by tests that need PyTorch: `python` is one that has it; without one the test ends as skipped.
for python in "${PYTHON:-python3}" /usr/bin/python3 ''; do
    [ -z "$python" ] && { echo "skipped: no PyTorch (Debian: python3-torch)"; exit 77; }
    "$python" -c 'import torch; torch.set_num_threads(1)' 2>/dev/null && break
done
