# Counterfoil's recipes. Each installs what it needs itself and says so. `just` alone lists them.

set shell := ["bash", "-euo", "pipefail", "-c"]

guest := "--profile guest --target wasm32-wasip2 --target-dir target/guest"
# The crates of the plug-ins that ship with the program: one for each folder in guest/tools.
plugins := `ls guest/tools | sed 's/^/-p counterfoil-/' | xargs`
# The plug-in pdf stands by itself: its libraries ask for features of crates that the engine has as well, and the engine would
# be compiled a second time for them.
tested := "-p counterfoil -p counterfoil-gate-core " + replace(plugins, "-p counterfoil-pdf", "") + " -p counterfoil-tests"

_default:
    @just --list --unsorted

# The whole story on the real plug-ins in a temporary directory: preview, confirm, lost reply, changed argument, levels
demo: setup
    cargo build --locked -p counterfoil
    target/debug/counterfoil demo

# Everything that has to hold: style, both builds of the library, and all tests
test: setup fixtures python node deny
    @echo "==> style: format, lints, the library without its features"
    cargo fmt --all --check
    cargo clippy --locked {{tested}} -p counterfoil-bench --all-targets -- -D warnings
    cargo clippy --locked -p counterfoil-pdf --all-targets -- -D warnings
    cargo clippy --locked -p counterfoil --no-default-features --lib --examples -- -D warnings
    cargo clippy --locked -p counterfoil --no-default-features --features rules --lib -- -D warnings
    RUSTFLAGS="-C target-feature=+simd128" cargo clippy --locked -p counterfoil-gate --target wasm32-unknown-unknown --target-dir target/guest -- -D warnings
    cargo clippy --locked {{plugins}} -p counterfoil-fixtures --examples --lib --target wasm32-wasip2 --target-dir target/guest -- -D warnings
    @echo "==> the program and the examples that the tests run"
    cargo build --locked {{tested}} --examples --bins
    @echo "==> tests"
    cargo test --locked {{tested}}
    cargo test --locked -p counterfoil-pdf

# The program at target/release/counterfoil and the components at target/components
build: setup
    cargo build --locked --release -p counterfoil
    @ls -l target/release/counterfoil target/components/*.wasm
    @shasum -a 256 target/components/*.wasm

# The components alone, at target/components
build-components: setup
    cargo build --locked -p counterfoil
    @ls -l target/components/*.wasm

# The plug-ins that the tests use, good and bad
fixtures: setup
    @echo "==> fixture plug-ins"
    cargo build --locked -p counterfoil-fixtures --examples {{guest}}

# The official Python SDK and readers of PDF in target/venv, for the tests that drive the program or check what it wrote
python:
    @echo "==> Python SDK and readers of PDF in target/venv"
    @mkdir -p target
    @test -x target/venv/bin/python || python3 -m venv target/venv
    @cmp -s tests/python/requirements.txt target/venv/.installed || { \
        target/venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt && \
        cp tests/python/requirements.txt target/venv/.installed; }

# The official MCP clients for Node in tests/node/node_modules, for the tests that drive the program with them
node:
    @echo "==> MCP clients for Node in tests/node/node_modules"
    @node -e 'process.exit(Number.parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null || { \
        echo "the tests need Node 20 or newer with npm; found $(node --version 2>/dev/null || echo none)" >&2; exit 1; }
    @cd tests/node && { cmp -s package-lock.json node_modules/.locked || { \
        npm ci --loglevel=error && cp package-lock.json node_modules/.locked; }; }

# The compiler that rust-toolchain.toml names, with its wasm targets
setup:
    @echo "==> Rust toolchain and wasm targets"
    @rustup toolchain install --no-self-update $(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml) \
        --profile minimal --component clippy --component rustfmt \
        --target wasm32-unknown-unknown --target wasm32-wasip2

# Rewrites the prose in the vectors and golden files from what the program says; read the difference before you commit
bless: setup fixtures
    cargo build --locked -p counterfoil
    COUNTERFOIL_BLESS=1 cargo test --locked {{tested}} --test it vectors
    COUNTERFOIL_BLESS=1 cargo test --locked {{tested}} --test it -- docs_tools docs_examples

# Licences, sources and versions of what we depend on, with cargo-deny in target/tools
deny: setup
    @echo "==> cargo-deny in target/tools"
    @test -x target/tools/bin/cargo-deny || cargo install --locked --quiet --root target/tools cargo-deny@0.20.2
    target/tools/bin/cargo-deny --all-features --locked check bans licenses sources

# What the contract costs, beside native code, Node and Python in the same run; `just bench cycle` for one group
bench filter="": setup fixtures
    @command -v node >/dev/null && command -v python3 >/dev/null || { echo "just bench compares with Node and Python: install node (20 or newer) and python3"; exit 1; }
    cargo build --locked --release {{tested}} -p counterfoil-bench --bin counterfoil --bin speed
    target/release/speed {{filter}}

# The figures of this state beside those of an earlier one, in turns: `just bench-against HEAD~3 cycle`
bench-against revision filter="": setup fixtures
    @test -d target/earlier || git worktree add --detach target/earlier {{revision}}
    git -C target/earlier checkout --quiet --detach {{revision}}
    cd target/earlier && just fixtures && \
        cargo build --locked --release {{tested}} -p counterfoil-bench --bin counterfoil --bin speed
    cargo build --locked --release {{tested}} -p counterfoil-bench --bin counterfoil --bin speed
    target/release/speed against target/earlier/target/release/speed "{{filter}}"

# The property tests with many more histories: hours, not for CI
soak cases="100000": setup
    cargo build --locked -p counterfoil
    PROPTEST_CASES={{cases}} cargo test --locked --release {{tested}} -- model canonical

# Mutations of configurations and of component files, against an oracle of the tests' own: many more than `just test` has
mutations count="10000": setup fixtures
    cargo build --locked -p counterfoil
    COUNTERFOIL_MUTATIONS={{count}} cargo test --locked {{tested}} --test it mutations

# The first run of audit, config, lines or lock compiles the engine once more, optimised little.
# Looks for inputs that break a rule, for so many seconds a target, with cargo-fuzz in target/tools: `just fuzz 60 arguments`
fuzz seconds target="": setup
    #!/usr/bin/env bash
    set -euo pipefail
    command -v c++ >/dev/null || { echo "just fuzz builds libFuzzer: install a C++ compiler (c++)" >&2; exit 1; }
    echo "==> cargo-fuzz in target/tools"
    test -x target/tools/bin/cargo-fuzz || cargo install --locked --quiet --root target/tools cargo-fuzz@0.13.2
    export PATH="$PWD/target/tools/bin:$PATH"
    for name in $(ls tests/fuzz/fuzz_targets | sed 's/\.rs$//'); do
        [ -z "{{target}}" ] || [ "{{target}}" = "$name" ] || continue
        # No sanitizer: none of this is unsafe code, and so the usual compiler will do.
        build="--fuzz-dir tests/fuzz --target-dir target --sanitizer none --codegen-units 16"
        grep -A 3 "name = \"$name\"" tests/fuzz/Cargo.toml | grep -q required-features || build="$build --no-default-features"
        dictionary=tests/fuzz/dictionaries/$([[ $name = config || $name = lock ]] && echo toml || echo json).dict
        mkdir -p target/fuzz/corpus/$name target/fuzz/found/$name
        echo "==> $name for {{seconds}} s"
        # New inputs go to the first folder, the kept ones are only read; what breaks a rule goes to target/fuzz/found.
        kept=$(ls -d tests/fuzz/{corpus,found}/$name 2>/dev/null || true)
        cargo fuzz run $build $name target/fuzz/corpus/$name $kept -- \
            -max_total_time={{seconds}} -timeout=5 -max_len=4096 -dict=$dictionary -artifact_prefix="$PWD/target/fuzz/found/$name/"
        ran="${ran-}$name "
    done
    [ -n "${ran-}" ] || { echo "there is no fuzz target {{target}}: look into tests/fuzz/fuzz_targets" >&2; exit 1; }

# Chooses anew, after `just fuzz`, which inputs of a target are kept; a finding is kept by hand, in tests/fuzz/found
fuzz-keep target:
    python3 tests/fuzz/keep.py target/*/release/{{target}} tests/fuzz/corpus/{{target}} target/fuzz/corpus/{{target}}

# Small changes of the rules that no test notices, with cargo-mutants in target/tools: an hour, not for CI
mutants *arguments: setup
    @echo "==> cargo-mutants in target/tools"
    @test -x target/tools/bin/cargo-mutants || cargo install --locked --quiet --root target/tools cargo-mutants@27.1.0
    PATH="$PWD/target/tools/bin:$PATH" cargo mutants --package counterfoil-gate-core --output target {{arguments}}

# The crate as it would be published, with the finished components inside, and a build of it without wasm targets
package: build
    rm -rf host/components
    mkdir -p host/components/sample
    for name in gate $(ls guest/tools); do cp target/components/$name.wasm host/components/; done
    for name in $(ls target/components/sample); do cp -R target/components/sample/$name host/components/sample/; done
    cargo package --locked --allow-dirty -p counterfoil
