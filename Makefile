# The targets are listed by `make help`. Tools other than Go, Python, Node and a C
# compiler are installed from package registries, in .tools; nothing outside of
# this folder is touched, but for the packages of Slurm and Chromium where CI or STRICT=1 is set.
#
# Each step of `make check` is a target of its own: `make vet` is that step alone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif

BUF_VERSION := 1.75.0
WABT_VERSION := 1.0.39
PYTHON_SDK := plugins/sdk/python
# What Python examples and the plugin for Optuna need, what the Python SDK's tests do, and
# its own dependencies. The wheel of pyright has the checker, and nodejs is a wheel, too: nothing else is fetched.
PYTHON_PACKAGES := 'scikit-learn>=1.4,<2' 'optuna>=4.4,<6' 'cmaes>=0.12' 'ray[tune]==2.60.0' 'hyperopt>=0.2.7' 'bayesian-optimization>=1.4' 'nevergrad>=1' 'zoopt>=0.4' 'ConfigSpace>=1' 'pandas>=2' 'cloudpickle>=3' 'mypy>=1.8' 'pyright[nodejs]==1.1.414' 'pytest>=8' 'pytest-xdist>=3.6' 'nbconvert>=7' 'ipykernel>=6' 'xgboost-cpu>=2' 'lightgbm>=4' types-grpcio types-protobuf 'setuptools>=77' -e ./$(PYTHON_SDK)
# The last release whose generated code asks for no version of protobuf: it works with
# every one from 5 on. It has wheels for Python 3.7 to 3.12.
PROTOC_PACKAGES := 'grpcio-tools==1.62.3' 'setuptools<80'

# The client of the HTTP API is generated and run in an environment of its own.
CLIENT_PACKAGES := 'openapi-python-client==0.29.1' 'openapi-spec-validator==0.9.0'

# What a caller may set: make bench PKG=./core/..., make fuzz FUZZTIME=10m, make torture TIME=1h,
# make chaos-slurm MINUTES=30.
PKG ?= ./...
BENCH ?= .
FUZZTIME ?= 30s
SEEDS ?= 100000
KILLS ?= 200
RUN ?=
TIME ?= 10m
MINUTES ?= 30
SEED ?=
DEATHS ?= 1000000
LIVES ?= 50s

# What takes longer than this hangs: ten minutes are little for a package of tests that
# compile plugins in every language, on a slow machine.
HANGS := 40m

TOOLS := $(CURDIR)/.tools
BUF := $(TOOLS)/buf-$(BUF_VERSION)/node_modules/.bin/buf
WABT := $(TOOLS)/wabt-$(WABT_VERSION)
VENV := $(TOOLS)/venv
PROTOC := $(TOOLS)/protoc
CLIENT := $(TOOLS)/http-client
PYTHON_PROTO := $(PYTHON_SDK)/tunehost/_proto
TEST_LOG := $(TOOLS)/test.log
# Tests that failed in company and passed alone.
UNSTEADY := $(TOOLS)/unsteady
PROTO := plugins/sdk/proto
RUST := plugins/sdk/rust
RUST_GUESTS := $(TOOLS)/rust-guests
C_SDK := plugins/sdk/c
C_GUESTS := $(TOOLS)/c-guests
ZIG := $(TOOLS)/zig-0.17.1
FROZEN := $(PROTO)/v1.binpb
JS := plugins/sdk/js
# The messages that the JavaScript SDK loads, as JSON: .proto files would be parsed at each start of a plugin.
JS_PROTO := $(JS)/proto/tunehost.json
WEB := host/web
ASSEMBLYSCRIPT := plugins/sdk/assemblyscript
BROKEN := host/plugin/sandbox/testdata/broken

# Programs in the examples find the virtual environment's python3.
export PATH := $(VENV)/bin:$(PATH)
export CARGO_TARGET_DIR := $(TOOLS)/cargo

# A registry that does not answer once is asked again.
export npm_config_fetch_retries := 6
export PIP_RETRIES := 10
export PIP_DEFAULT_TIMEOUT := 60
export CARGO_NET_RETRY := 10

# Programs of other languages: a path, or nothing where they are not installed.
PYTHON := $(shell command -v python3)
NPM := $(and $(shell command -v node),$(shell command -v npm))
CARGO := $(shell command -v cargo)
# No package has C in it. Without it every step has the same packages as the wheels; with it those that need the network
# would be compiled twice.
export CGO_ENABLED := 0
# The race detector needs a C compiler.
RACE := $(if $(shell command -v $(firstword $(shell go env CC 2>/dev/null) cc)),-race)

# Where CI or STRICT is set, a missing language is a failure; elsewhere the steps that need it are left out, and the
# last step says so.
STRICT_CHECK := $(filter-out 0 false,$(CI) $(STRICT))
# Tests note here which languages they tested (internal/toolchain).
TESTED := $(TOOLS)/tested
export TUNEHOST_TESTED := $(TESTED)

# if_there,PROGRAM,STEPS: the steps, or that they are left out.
if_there = $(if $(1),$(2),$(addprefix without-,$(2)))
# Slurm and Chromium come first: a new machine has neither, and tests of many steps need them.
CHECKS := toolchains slurm chromium build format vet $(call if_there,$(NPM),generated proto) \
	side-by-side test last-side-by-side languages
# Each of these keeps one processor busy and shares no file with the others. What takes longest begins first.
SIDES := staticcheck $(call if_there,$(CARGO),rust) $(call if_there,$(PYTHON),python-types python-tests) house \
	$(call if_there,$(NPM),assemblyscript) $(call if_there,$(PYTHON),client) $(call if_there,$(NPM),js web)

# What comes last and waits more than it computes.
LAST := simulation examples

# Checks test the program with the client for S3, as it is in the wheels; vet and staticcheck also look at the default
# build of the packages in which it differs. Programs that tests build need no tables for debuggers, which take half of a
# linker's time.
TAGS := s3
DIFFER = $(shell git grep -lE '^//go:build.*\b$(TAGS)\b' -- '*.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
FLAGS := $(GOFLAGS)
$(CHECKS) $(SIDES) $(LAST) mutants cover: export GOFLAGS := $(strip $(FLAGS) -tags=$(TAGS) -ldflags=-w)

# heading,TEXT: with the time since make was started.
STARTED ?= $(shell date +%s)
STARTED := $(STARTED)
heading = @t=$$(($$(date +%s) - $(STARTED))); printf '\n== %s (at %d:%02d)\n' '$(1)' $$((t / 60)) $$((t % 60))

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: check
check: $(CHECKS) ## everything that must hold, in order; what CI runs
	@[ ! -s $(UNSTEADY) ] || { printf '\n== these tests failed and passed when they ran alone; each is a fault to look for\n'; \
	cat $(UNSTEADY); }
	$(call heading,$(if $(left_out),all checks that could be made passed; left out: $(left_out),all checks passed))

left_out = $(patsubst without-%,%,$(filter without-%,$(CHECKS) $(SIDES)))

# at_once,TARGETS: makes several targets at a time.
at_once = @GOFLAGS='$(FLAGS)' STARTED=$(STARTED) $(MAKE) --no-print-directory SIDE_BY_SIDE=1 -j $(AT_ONCE) \
	$(if $(filter output-sync,$(.FEATURES)),-O) $(1)

.PHONY: side-by-side
side-by-side: ## staticcheck, and the checks of Rust, Python, the house, the HTTP client, JavaScript, the dashboard and AssemblyScript, several at a time
	$(call at_once,$(SIDES))

.PHONY: last-side-by-side
last-side-by-side: $(if $(PYTHON),bytecode) ## the simulation and the examples
	$(call at_once,$(LAST))

# missing,PROGRAM,WHAT TO DO: one line when the program is not there, and a failure under STRICT=1.
missing = @command -v $(1) >/dev/null || { echo '$(1) is missing: $(2)' >&2; [ -z '$(STRICT_CHECK)' ]; }

without-%:
	$(call heading,$* is LEFT OUT: what it needs is not installed)

.PHONY: languages
languages: ## which languages the tests tested
	$(call heading,languages)
	@go run ./internal/toolchain/tested $(TESTED)

.PHONY: toolchains
toolchains: ## the programs that the checks need; with CI or STRICT=1 set, all have to be there
	$(call heading,toolchains)
	$(call missing,go,install Go 1.26 or newer (https://go.dev/dl))
	$(call missing,$(firstword $(shell go env CC 2>/dev/null) cc),install a C compiler; the race detector needs it)
	$(call missing,node,install Node.js with npm (https://nodejs.org))
	$(call missing,npm,install Node.js with npm (https://nodejs.org); it brings buf)
	$(call missing,python3,install Python 3.9 or newer; its SDK and examples and a journal test need it)
	$(call missing,cargo,install Rust 1.88 or newer (https://rustup.rs); it builds the Rust SDK)
	@mkdir -p $(TOOLS); rm -f $(UNSTEADY)
	@go version; $(if $(CARGO),cargo --version;) $(if $(NPM),echo "node $$(node --version)";) $(if $(PYTHON),python3 --version)

.PHONY: slurm
slurm: ## with CI or STRICT=1 set, Debian's packages of Slurm: tests bring up a cluster on this machine
	$(call heading,Slurm)
	@$(if $(STRICT_CHECK),internal/engines/slurm/slurm-packages.sh; slurmctld -V, \
	slurmctld -V 2>/dev/null || echo 'not installed: internal/engines/slurm/slurm-packages.sh does that')

.PHONY: chromium
chromium: ## with CI or STRICT=1 set, Debian's package of Chromium: tests look at the dashboard with it
	$(call heading,Chromium)
	@$(if $(STRICT_CHECK),$(WEB)/browser/chromium.sh; chromium --version, \
	chromium --version 2>/dev/null || echo 'not installed: $(WEB)/browser/chromium.sh does that')

KUBERNETES := plugins/executors/kubernetes

.PHONY: kubernetes
kubernetes: ## the executor kubernetes, a module of its own, as a plugin in its folder
	@cd $(KUBERNETES) && go build -ldflags '-s -w' -o executor/tunehost-executor-kubernetes .
	@ls -l $(KUBERNETES)/executor

.PHONY: check-kubernetes
check-kubernetes: ## the executor kubernetes on a real cluster on this machine; no part of check: building Kubernetes takes 20 minutes
	$(call heading,Kubernetes)
	@cd $(KUBERNETES) && go vet ./...
	@internal/engines/kubernetes/kubernetes-build.sh >/dev/null
	@mkdir -p $(TOOLS); cd $(KUBERNETES) && TUNEHOST_TESTED= go test -count=1 -timeout $(HANGS) -v ./... 2>&1 | tee $(TEST_LOG)
	@! grep -q 'NOT TESTED' $(TEST_LOG) || { printf '\n== Kubernetes was NOT TESTED: %s\n' "$$(grep -o 'NOT TESTED: .*' $(TEST_LOG) | head -1)" >&2; exit 1; }

.PHONY: bench-kubernetes
bench-kubernetes: ## what experiments in pods cost, beside plain pods on a real cluster on this machine (needs root); RUN=starts measures one thing; see bench/RESULTS.md
	@internal/engines/kubernetes/kubernetes-build.sh >/dev/null
	@cd $(KUBERNETES) && TUNEHOST_TESTED= go test -count=1 -timeout $(HANGS) -run NONE -bench 'Kubernetes/$(RUN)' -benchtime 1x .

.PHONY: build
build: ## the default program is built; vet and the tests compile everything else
	$(call heading,build)
	@GOFLAGS='$(FLAGS)' go build -o /dev/null ./cmd/tunehost
	@cd $(KUBERNETES) && go mod tidy -diff >/dev/null || { echo 'run go mod tidy in $(KUBERNETES) and commit what changes' >&2; exit 1; }

.PHONY: format
format: ## gofmt has nothing to change
	$(call heading,gofmt)
	@changed=$$(gofmt -l $$(git ls-files '*.go')); \
	[ -z "$$changed" ] || { echo "not formatted; run gofmt -w on:" >&2; echo "$$changed" >&2; exit 1; }

.PHONY: vet
vet: ## go vet is content
	$(call heading,vet)
	@go vet ./... && GOFLAGS='$(FLAGS)' go vet $(DIFFER)

.PHONY: staticcheck
staticcheck: ## staticcheck is content
	$(call heading,staticcheck)
	@go tool staticcheck ./... && GOFLAGS='$(FLAGS)' go tool staticcheck $(DIFFER)

# without_grpc_in_guests,FOLDER: a WASM module that is built of the messages must
# not pull in gRPC with them, which is 13 MB and 20 seconds of compiling.
without_grpc_in_guests = sed -i -e '1i //go:build !wasip1\n' $$(find $(1) -name '*_grpc.pb.go')

.PHONY: generated
generated: $(BUF) ## generated code is that of the .proto files
	$(call heading,generated code)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(BUF) generate -o "$$fresh"; \
	$(call without_grpc_in_guests,"$$fresh/$(PROTO)"); \
	diff -ru -x '*.proto' -x '*.binpb' $(PROTO) "$$fresh/$(PROTO)" || { \
	echo 'the Go code in $(PROTO) is not what its .proto files say: run make generate and commit what changes' >&2; exit 1; }

.PHONY: proto
proto: $(BUF) ## buf lint; nothing breaks the frozen version 1 of the protocol
	$(call heading,protocol)
	@[ -f $(FROZEN) ] || { echo '$(FROZEN) is missing: it is the protocol that released plugins speak; take it from git' >&2; exit 1; }
	@$(BUF) lint
	@$(BUF) breaking --against $(FROZEN) || { \
	echo 'plugins of version 1 would break: add fields instead, or begin a package tunehost.v2' >&2; exit 1; }

.PHONY: house
house: ## who imports whom; the list of behaviours; links, files and functions in documents
	$(call heading,house)
	@go test -count=1 ./internal/...

.PHONY: js
js: $(JS)/node_modules/.package-lock.json ## the JavaScript SDK: types, definitions of the protocol, its own tests
	$(call heading,JavaScript)
	@node $(JS)/definitions.js $(PROTO) | diff -u $(JS_PROTO) - || { \
	echo '$(JS_PROTO) is old: run make generate and commit what changes' >&2; exit 1; }
	@cd $(JS) && node_modules/.bin/tsc
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(call js_types,"$$fresh"); diff -r $(JS)/types "$$fresh" || { \
	echo '$(JS)/types is not what the sources say: run make js-types and commit what changes' >&2; exit 1; }
	@cd $(JS) && node --test test/*.test.js > $(TEST_LOG) || { cat $(TEST_LOG); exit 1; }

# js_types,FOLDER: declarations of what the package exports.
js_types = $(JS)/node_modules/.bin/tsc --project $(JS)/tsconfig.types.json --outDir $(1) && rm -rf $(1)/serve

.PHONY: js-types
js-types: $(JS)/node_modules/.package-lock.json ## declarations of the JavaScript SDK, anew
	rm -rf $(JS)/types
	$(call js_types,$(CURDIR)/$(JS)/types)

# The types of the API's models, for the type checker; they are not committed.
$(WEB)/src/openapi.d.ts: docs/openapi.json $(WEB)/node_modules/.package-lock.json
	@$(WEB)/node_modules/.bin/openapi-typescript $< --output $@ >/dev/null

.PHONY: web
web: $(WEB)/src/openapi.d.ts ## the dashboard: its types fit docs/openapi.json, and what is committed is what the sources give
	$(call heading,dashboard)
	@cd $(WEB) && node_modules/.bin/tsc
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	(cd $(WEB) && go run ./bundle "$$fresh"); diff -rq $(WEB)/dist "$$fresh" || { \
	echo '$(WEB)/dist is not what its sources give: run make dashboard and commit what changes' >&2; exit 1; }
	@cat $(WEB)/dist/* | gzip -9 | wc -c | awk '{ print "  " $$1 " bytes compressed"; exit $$1 > 400000 }'

.PHONY: dashboard
dashboard: $(WEB)/node_modules/.package-lock.json ## the dashboard's bundle, anew; part of make generate
	@cd $(WEB) && go run ./bundle dist

.PHONY: assemblyscript
assemblyscript: $(ASSEMBLYSCRIPT)/node_modules/.package-lock.json ## WASM modules of the AssemblyScript samples, into .tools
	$(call heading,AssemblyScript)
	@mkdir -p $(TOOLS)/assemblyscript
	@cd $(ASSEMBLYSCRIPT) && for sample in climber halfway descent descent-resumable; do \
	node_modules/.bin/asc samples/$$sample.ts --config asconfig.json --outFile $(TOOLS)/assemblyscript/$$sample.wasm; done
	@ls -l $(TOOLS)/assemblyscript | awk 'NR > 1 { print "  " $$5 "\t" $$9 }'

.PHONY: python
python: python-types python-tests ## the Python SDK: types, tests, generated code; its plugins run in `make test`

.PHONY: python-types
python-types: $(VENV)/ready ## the types of the Python SDK
	$(call heading,types in Python)
	@cd $(PYTHON_SDK) && $(VENV)/bin/mypy --cache-dir $(TOOLS)/mypy && PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(VENV)/bin/pyright

# Python compiles the SDK once, and not at each start of a plugin, where the environment forbids it to keep what it compiles.
.PHONY: bytecode
bytecode: $(VENV)/ready
	@$(VENV)/bin/python -m compileall -q $(PYTHON_SDK)/tunehost

.PHONY: python-tests
python-tests: bytecode ## the Python SDK's own tests, and its generated code
	$(call heading,tests in Python)
	@cd $(PYTHON_SDK) && $(VENV)/bin/pytest -q -p no:cacheprovider
	@TUNEHOST_TESTED= go test -count=1 -run 'Generated|Vectors' ./$(PYTHON_SDK)

.PHONY: wheels
wheels: $(VENV)/ready ## the wheels of Python, each with the program of a platform, in dist
	@rm -rf dist
	@$(VENV)/bin/python $(PYTHON_SDK)/wheels.py dist
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check twine auditwheel
	@$(VENV)/bin/twine check --strict dist/*
	@for wheel in dist/*manylinux*.whl; do $(VENV)/bin/auditwheel show $$wheel || exit 1; done

# Libraries of integrations that are too large for make check: torch alone is 2 GB.
INTEGRATIONS := $(TOOLS)/integrations
INTEGRATION_PACKAGES := 'torch>=2.2' 'lightning>=2.2' 'transformers>=4.46' 'accelerate>=1' 'keras>=3' 'pytest>=8'

.PHONY: check-integrations
check-integrations: $(INTEGRATIONS)/ready ## the Python integrations with PyTorch Lightning, Hugging Face and Keras; no part of check: their wheels are 3 GB
	$(call heading,integrations)
	@cd $(PYTHON_SDK)/testdata/integrations && go build -o $(INTEGRATIONS)/tunehost $(CURDIR)/cmd/tunehost && \
	TUNEHOST_BINARY=$(INTEGRATIONS)/tunehost $(INTEGRATIONS)/bin/python -m pytest -q -p no:cacheprovider --rootdir . test_large.py

$(INTEGRATIONS)/ready:
	@echo 'installing PyTorch, Lightning, Transformers and Keras'
	@python3 -m venv $(INTEGRATIONS)
	@$(INTEGRATIONS)/bin/pip install --quiet --disable-pip-version-check $(INTEGRATION_PACKAGES) -e ./$(PYTHON_SDK)
	@touch $@

RAY_EXAMPLES := $(TOOLS)/ray-examples

.PHONY: ray-examples
ray-examples: $(RAY_EXAMPLES)/ready ## Ray's own examples over tunehost; no part of check: they take minutes
	$(call heading,ray-examples)
	@go build -o $(RAY_EXAMPLES)/tunehost ./cmd/tunehost
	@cd $(PYTHON_SDK)/testdata/tune && TUNEHOST_BINARY=$(RAY_EXAMPLES)/tunehost \
	$(RAY_EXAMPLES)/bin/python -m pytest -q -p no:cacheprovider --rootdir . test_examples.py

# The environment of the other tests, whose own .pth files count for nothing here, and what one example needs beside it. Releases from 3 on do not keep runs in files.
$(RAY_EXAMPLES)/ready: $(VENV)/ready
	@echo 'installing MLflow'
	@python3 -m venv $(RAY_EXAMPLES)
	@{ $(VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; echo $(CURDIR)/$(PYTHON_SDK); } > \
	$$($(RAY_EXAMPLES)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/others.pth
	@$(RAY_EXAMPLES)/bin/pip install --quiet --disable-pip-version-check 'mlflow-skinny>=2.14,<3'
	@touch $@

.PHONY: ray-table
ray-table: $(VENV)/ready ## docs/RAY.md anew, of the sources of Ray
	@cd $(PYTHON_SDK) && $(VENV)/bin/python raytable.py > $(CURDIR)/docs/RAY.md

.PHONY: client
client: $(CLIENT)/ready ## a client that a generator makes of docs/openapi.json runs experiments over HTTP
	$(call heading,a generated HTTP client)
	@$(CLIENT)/bin/openapi-spec-validator docs/openapi.json
	@PATH=$(CLIENT)/bin:$$PATH openapi-python-client generate --path docs/openapi.json --meta none --overwrite \
		--output-path $(CLIENT)/generated/tunehost_client
	@go build -o $(CLIENT)/tunehost ./cmd/tunehost
	@PYTHONPATH=$(CLIENT)/generated $(CLIENT)/bin/python host/serve/testdata/client.py $(CLIENT)/tunehost

.PHONY: rust
rust: rust-guests ## the Rust SDK: format, clippy, tests, samples; they run in `make test`
	$(call heading,Rust)
	@cd $(RUST) && if command -v rustfmt >/dev/null; then cargo fmt --check; fi
	@cd $(RUST) && if command -v cargo-clippy >/dev/null; then \
	cargo clippy --quiet --locked --all-targets --jobs 2 -- -D warnings; fi
	@cd $(RUST) && cargo test --quiet --locked --jobs 2

.PHONY: rust-guests
rust-guests: $(RUST_GUESTS)/ready ## the Rust samples as WASM modules, in .tools

.PHONY: c-guests
c-guests: $(C_GUESTS)/dice.wasm ## the sample of the C header as a WASM module, in .tools

# Packages whose tests are mostly other processes run without the race detector, and so do those in which nothing runs
# beside something else: it would find nothing there, and takes most of the time.
PROCESSES := /tunehost/(cmd|conformance|host/(hosttest|scaffold|plot|plugin/sandbox|web)|plugins/(searchers|schedulers)|plugins/sdk/(python|js|rust|assemblyscript|samples)|plugins/executors/ray)
BESIDE := \bgo (func\b|[[:alpha:]_.]+\()|\.Go\(|AfterFunc\(|httptest\.|\.Parallel\(\)
TESTS = $(shell go list ./... | grep -vE '/tunehost/(examples|internal)')
RACED = $(filter $(addprefix github.com/tunehost/tunehost/,$(sort $(patsubst %/,%,$(dir $(shell \
	git grep -lE '$(BESIDE)' -- '*.go'))))),$(shell echo '$(TESTS)' | tr ' ' '\n' | grep -vE '$(PROCESSES)'))

# The raced tests come last: they take the WASM modules that the others have compiled, which takes longer with the race
# detector, and beside them tests that wait for something fail. Packages that take longest start first, so that no
# processor waits for them at the end. Tests of other processes wait for these half of their time: two packages at a time
# for each processor.
LONGEST_RACED := ./host ./host/serve ./plugins/executors/slurm ./core/journal ./host/plugin/process
LONGEST := ./plugins/sdk/python ./host/web/browser ./cmd/tunehost ./plugins/sdk/samples ./plugins/sdk/rust ./plugins/sdk/js \
	./host/hosttest ./plugins/executors/ray
AT_ONCE = $(shell echo $$((2 * $$(nproc 2>/dev/null || sysctl -n hw.ncpu))))

.PHONY: test
test: $(if $(PYTHON),bytecode c-guests) $(if $(CARGO),rust-guests) ## all tests of Go packages, with the race detector where it can find something
	$(call heading,tests of other processes and where nothing runs beside something else)
	@$(call go_test,-p $(AT_ONCE),$(LONGEST) $(filter-out $(RACED),$(TESTS)))
	$(call heading,tests with the race detector)
	@$(if $(RACE),export CGO_ENABLED=1;) $(call go_test,$(RACE),$(LONGEST_RACED) $(RACED))

# gotest,FORMAT,PACKAGES,FLAGS: tests that start clusters, kill hosts and fill disks share a few processors. Where few
# failed, they run once more, alone, and those that pass then are named as UNSTEADY, here and at the end. After a data
# race, a panic or a test that hangs there is no second run. A check of its own has run vet.
gotest = rm -f $(TOOLS)/rerun; go tool gotestsum --format $(1) --rerun-fails=1 --rerun-fails-max-failures=8 --rerun-fails-run-root-test \
	--rerun-fails-abort-on-data-race --rerun-fails-report=$(TOOLS)/rerun --packages="$(2)" -- -vet=off -timeout $(HANGS) $(3) \
	2>&1 | tee $(TEST_LOG)
unsteady = { [ ! -s $(TOOLS)/rerun ] || sed 's/^/UNSTEADY: /' $(TOOLS)/rerun | tee -a $(UNSTEADY); }

# go_test,FLAGS,PACKAGES: what failed is listed at the end, and what was slow.
go_test = mkdir -p $(TOOLS); $(call gotest,standard-quiet,$(2),$(1)) || \
	{ echo 'FAILED:'; grep -E '^(=== FAIL|--- FAIL|FAIL|panic:|WARNING: DATA RACE)' $(TEST_LOG) | sort -u; exit 1; }; \
	$(unsteady); echo 'slowest packages:'; \
	awk '$$1 == "ok" && $$3 ~ /s$$/ { print "  " $$3 "\t" $$2 }' $(TEST_LOG) | sort -rn | sed -n 1,8p

.PHONY: simulation
simulation: ## LIVES=50s of simulated hosts that die, on seeds that nobody has tried
	$(call heading,simulation)
	@go test -count=1 -timeout 0 -v ./host/hosttest/sim -run TestFreshSeeds -for $(LIVES) | grep -v '^=== RUN'

.PHONY: examples
examples: $(if $(PYTHON),bytecode) ## every example runs; none is skipped for another reason than a missing language
	$(call heading,examples)
	@mkdir -p $(TOOLS)
	@$(call gotest,standard-verbose,./examples/...,-count=1 -parallel $(AT_ONCE)); $(unsteady)
	@[ $$(grep -c -- '--- SKIP' $(TEST_LOG)) = $$(grep -c 'SKIPPED: .* NOT TESTED' $(TEST_LOG)) ] || \
	{ echo 'an example was skipped; see above what it needs' >&2; exit 1; }

# python_code,FOLDER: messages for the Python SDK, whose package is not named as the
# protocol's is.
python_code = $(PROTOC)/bin/python -m grpc_tools.protoc -I$(PROTO) --python_out=$(1) --pyi_out=$(1) \
	$(addprefix tunehost/v1/,common.proto searcher.proto scheduler.proto trainable.proto executor.proto reporter.proto) && \
	for file in $(1)/tunehost/v1/*_pb2.py*; do \
	sed 's/^from tunehost\.v1 import/from tunehost._proto import/' $$file >$(PYTHON_PROTO)/$$(basename $$file); done

.PHONY: generate
generate: $(BUF) $(PROTOC)/ready $(JS)/node_modules/.package-lock.json dashboard ## generated code, the dashboard, docs/CONFORMANCE.md, docs/PLUGINS.md and docs/BEHAVIOURS.md, anew
	$(BUF) generate
	$(call without_grpc_in_guests,$(PROTO))
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; $(call python_code,"$$fresh")
	go test ./conformance -run TestList -rewrite
	go test ./cmd/tunehost -run PluginPage -rewrite
	node $(JS)/definitions.js $(PROTO) > $(JS_PROTO)
	go test ./internal/house -run Behaviours -rewrite

.PHONY: broken-guests
broken-guests: $(WABT)/node_modules ## the broken WASM modules of the sandbox's tests, anew from their sources
	@node $(BROKEN)/build.mjs $(BROKEN) $(WABT)

.PHONY: freeze
freeze: $(BUF) ## the .proto files as they are become the frozen version 1: for releases
	$(BUF) build --exclude-source-info -o $(FROZEN)

.PHONY: behaviours
behaviours: ## which tests cover which behaviour, and which have none
	@go test -count=1 -v -run Behaviours ./internal/house

.PHONY: bench
bench: ## benchmarks; PKG=./core/... BENCH=Replay
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

.PHONY: hostbench
hostbench: ## what the whole command costs, beside plain starts of programs, or beside another binary with AGAINST=FILE; see bench/RESULTS.md
	@mkdir -p $(TOOLS)
	@go build -o $(TOOLS)/tunehost ./cmd/tunehost
	@go run ./bench/hostbench $(if $(AGAINST),-against $(AGAINST)) $(TOOLS)/tunehost

BENCH_PYTHON := $(TOOLS)/bench-python

.PHONY: bench-python
bench-python: $(BENCH_PYTHON)/ready ## tuning from Python beside Optuna and Ray Tune, in one run; see bench/RESULTS.md
	@go build -o $(BENCH_PYTHON)/tunehost ./cmd/tunehost
	@TUNEHOST_BINARY=$(BENCH_PYTHON)/tunehost $(BENCH_PYTHON)/bin/python bench/pythonbench/measure.py $(RUN)

$(BENCH_PYTHON)/ready: $(PYTHON_SDK)/pyproject.toml
	@echo 'installing Optuna and Ray Tune'
	@python3 -m venv $(BENCH_PYTHON)
	@$(BENCH_PYTHON)/bin/pip install --quiet --disable-pip-version-check 'ray[tune]==2.60.0' 'optuna>=5,<6' 'scikit-learn>=1.4,<2' -e ./$(PYTHON_SDK)
	@touch $@

.PHONY: bench-serve
bench-serve: ## what looking costs: answers about 100,000 trials, and ten open pages beside a running host
	@mkdir -p $(TOOLS); go build -o $(TOOLS)/tunehost ./cmd/tunehost
	@go run ./bench/servebench $(TOOLS)/tunehost

.PHONY: bench-cluster
bench-cluster: ## what experiments on nodes cost, beside a real Slurm on this machine (needs root); see bench/RESULTS.md
	@mkdir -p $(TOOLS)
	@go build -o $(TOOLS)/tunehost ./cmd/tunehost
	@go run ./bench/clusterbench $(if $(RUN),-only $(RUN)) $(TOOLS)/tunehost

.PHONY: torture
torture: ## real experiments for TIME=10m: kills, full disks, no permissions, no record; then the record against the trials' own logs
	nice -n 10 go test -count=1 -timeout 0 -v ./host/hosttest/torture -run TestTorture -torture.time $(TIME)

.PHONY: chaos-slurm
chaos-slurm: ## experiments on a Slurm of 8 nodes on this machine for MINUTES=30: cut nodes, killed daemons and hosts, cancelled jobs, full disks; SEED=N repeats the first
	nice -n 10 go test -count=1 -timeout 0 -v ./host/hosttest/torture -run TestChaosOnSlurm -chaos.time $(MINUTES)m $(if $(SEED),-chaos.seed $(SEED))

.PHONY: soak
soak: torture ## simulated worlds and crashes of the journal (SEEDS=100000 of each), DEATHS=1000000 of simulated hosts, twice, KILLS=200 of real ones, torture, all of conformance
	go test -count=1 -timeout 0 -v ./host/hosttest/sim -run TestFreshSeeds -deaths $(DEATHS)
	go test -count=1 -timeout 0 -v ./host/hosttest/sim -run TestFreshSeeds -leases -deaths $(DEATHS)
	go test -count=1 -timeout 0 -v ./host/hosttest/sim -run TestEvery -every
	go test -count=1 -timeout 0 -v ./host/hosttest/sim -run TestDeathAtEveryOperation -every
	go test -count=1 -timeout 0 ./core -run TestWorlds -seeds $(SEEDS)
	go test -count=1 -timeout 0 ./core/journal -run TestRandomLives -lives $(SEEDS)
	CGO_ENABLED=1 go test -race -count=1 -timeout 0 ./host/hosttest -run TestKilledHosts -kills $(KILLS)
	go test -count=1 -timeout 0 ./cmd/tunehost -run TestConformance -long

.PHONY: mutants
mutants: ## plants the bugs of internal/mutants one at a time: tests must find each (RUN=EXPRESSION)
	@go run ./internal/mutants -run '$(RUN)'

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME=30s
	@git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u | while read -r dir; do \
	for target in $$(grep -ho --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6-); do \
	echo "== $$dir $$target"; \
	go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "./$$dir"; \
	done; done

.PHONY: cover
cover: ## statements that tests reach, by package; the details are in .tools/cover.html
	@mkdir -p $(TOOLS)
	go test -coverprofile $(TOOLS)/cover.out $(PKG)
	@go tool cover -html $(TOOLS)/cover.out -o $(TOOLS)/cover.html
	@go tool cover -func $(TOOLS)/cover.out | tail -1

.PHONY: quickstart
quickstart: ## the first experiment
	go run ./cmd/tunehost run examples/quickstart/experiment.yaml

.PHONY: clean
clean: ## removes .tools and bin
	rm -rf $(TOOLS) bin dist $(JS)/node_modules $(WEB)/node_modules $(ASSEMBLYSCRIPT)/node_modules

$(BUF):
	@echo 'installing buf $(BUF_VERSION)'
	@npm install --silent --no-save --no-audit --no-fund --prefix $(TOOLS)/buf-$(BUF_VERSION) @bufbuild/buf@$(BUF_VERSION)

$(RUST_GUESTS)/ready: $(RUST)/guests.sh $(shell find $(RUST)/src $(RUST)/examples -name '*.rs')
	@echo 'building the Rust samples as WASM modules'
	@$(RUST)/guests.sh $(RUST_GUESTS)
	@touch $@

$(C_GUESTS)/%.wasm: $(C_SDK)/%.c $(C_SDK)/tunehost.h $(ZIG)/ready
	@mkdir -p $(C_GUESTS)
	@ZIG_GLOBAL_CACHE_DIR=$(ZIG)/cache ZIG_LOCAL_CACHE_DIR=$(ZIG)/cache $(ZIG)/bin/python -m ziglang cc \
	-target wasm32-freestanding -O2 -nostdlib -Wall -Wextra -Werror -Wl,--no-entry -s -o $@ $<

$(ZIG)/ready:
	@echo 'installing Zig, which compiles C to WASM'
	@python3 -m venv $(ZIG)
	@$(ZIG)/bin/pip install --quiet --disable-pip-version-check --no-deps ziglang==0.17.1
	@touch $@

$(WABT)/node_modules:
	@echo 'installing wabt $(WABT_VERSION)'
	@npm install --silent --no-save --no-audit --no-fund --prefix $(WABT) wabt@$(WABT_VERSION)

# What package-lock.json says, where the package's own sources find it.
%/node_modules/.package-lock.json: %/package-lock.json
	@echo 'installing what $* needs'
	@npm ci --silent --no-audit --no-fund --prefix $*
	@touch $@

$(VENV)/ready: Makefile $(PYTHON_SDK)/pyproject.toml
	@echo 'installing what Python examples and the Python SDK need'
	@python3 -m venv $(VENV) || { echo 'python3 cannot make virtual environments: install its venv module (Debian: python3-venv)' >&2; exit 1; }
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check $(PYTHON_PACKAGES)
	@touch $@

$(CLIENT)/ready: Makefile
	@echo 'installing the generator of HTTP clients'
	@python3 -m venv $(CLIENT)
	@$(CLIENT)/bin/pip install --quiet --disable-pip-version-check $(CLIENT_PACKAGES)
	@mkdir -p $(CLIENT)/generated
	@touch $@

$(PROTOC)/ready: Makefile
	@echo 'installing protoc for the Python SDK'
	@python3 -m venv $(PROTOC)
	@$(PROTOC)/bin/pip install --quiet --disable-pip-version-check $(PROTOC_PACKAGES)
	@touch $@
