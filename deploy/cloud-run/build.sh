#!/bin/sh
# What the image holds, in a folder: an environment with Penstock and Spark, pinned by the lock beside this script.
# Run from the root of the repository, which stays as it is: deploy/cloud-run/build.sh FOLDER
set -eu
folder=${1:?where to? deploy/cloud-run/build.sh FOLDER}
python=${PYTHON:-python3}
# setuptools builds where the sources are
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R pyproject.toml README.md LICENSE src "$copy"
"$python" -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/cloud-run/requirements.lock
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$copy"
"$folder/bin/penstock" --version
