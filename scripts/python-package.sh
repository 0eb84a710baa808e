# python_with PACKAGE: sets `python` to one that has PACKAGE, in a virtual environment in target/PACKAGE that is made if need be.
# Fails if the package cannot be installed. To be sourced in the repository's root.
python_with() {
    python=target/$1/bin/python
    "$python" -c "import $1" 2>/dev/null && return
    mkdir -p target
    python3 -m venv "target/$1" && "target/$1/bin/pip" --quiet install "$1"
}
