# Run `make` alone to see the targets. People and CI run the same one: `make test`.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules
.DEFAULT_GOAL := help
# Each target uses all cores by itself. Side by side, they would only disturb each other and mix their output.
.NOTPARALLEL:

ALLOT    := bin/allot
NEED_GO  := $(shell sed -n 's/^go //p' go.mod)
FUZZTIME ?= 10s

.PHONY: help
help: ## print this list
	@echo 'targets:'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: go-version ## build bin/allot, one static binary
	CGO_ENABLED=0 go build -trimpath -o $(ALLOT) ./cmd/allot

# The fuzz targets run here too, but each for a number of inputs only. `make fuzz` gives them longer. A number, because
# with a time the go command sometimes fails for no other reason than that the time was up.
.PHONY: test
test: FUZZTIME = 10000x
test: go-version lint race proofs faults fuzz checks ## everything that must pass: lint, tests, faults, fuzzing, bounded checks
	@echo 'make test: all passed'

.PHONY: lint
lint: go-version generated ## gofmt, go vet, golangci-lint, that go.mod is tidy, and that generated code is what it should be
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		printf 'run gofmt -w on these files:\n%s\n' "$$unformatted" >&2; exit 1; fi
	go vet ./...
	go mod tidy -diff
	go tool -modfile=tools/go.mod golangci-lint run

# The code of the API is generated from api/v1/allot.proto by programs whose versions are pinned in tools/go.mod.
.PHONY: generate
generate: go-version ## write the code of the API anew
	go -C tools run ./generate

.PHONY: generated
generated: go-version
	go -C tools run ./generate -check

# The algorithms are pure and start no goroutine, so their tests, which are mostly searches, run without the race detector
# and several times faster. The engines that drive them on all cores run with it.
.PHONY: race
race: go-version c-compiler ## the tests of everything but the algorithms, under the race detector
	CGO_ENABLED=1 go test -race $$(go list ./... | grep -v -e '^allot/protocol/' -e '^allot/soak$$')

.PHONY: proofs
proofs: go-version ## the tests of the algorithms: bounded searches and simulations
	go test ./protocol/...

# Real processes with real times: they run alone, because a machine that is busy with something else makes them late.
.PHONY: faults
faults: go-version namespaces ## nodes as processes: killed, stopped, cut off and corrupted, with a store that judges
	go test -count=1 -timeout 20m ./soak

.PHONY: soak
soak: go-version namespaces ## faults of all kinds in random order, for ALLOT_SOAK (1h unless given)
	ALLOT_SOAK=$${ALLOT_SOAK:-1h} go test -count=1 -timeout 25h -v -run TestSoak ./soak

# Searches that end within seconds. The command exits with 0 for proved, 1 for a counterexample and 2 for unknown, so a
# line that must find a counterexample says so: nothing but 1 will do.
REFUTED = || status=$$?; test "$${status:-0}" -eq 1
# Two members and a unit; the second generation is without one of them.
POOL = --timers any --skew 1 --lease 1 --generations 2 --takeover exact --next other-alone --calls prompt --burst 1 --turns 0 --passes 0 \
	--asks 1 --links fifo,lossy,capacity=1
.PHONY: checks
checks: build ## bounded searches of the model checker
	$(ALLOT) lab check ring --topology ring:5 --k 5 --daemon central
	$(ALLOT) lab check ring --topology ring:5 --k 5 --daemon distributed
	$(ALLOT) lab check ring --topology ring:5 --k 2 --daemon central $(REFUTED)
	$(ALLOT) lab check peterson
	$(ALLOT) lab check peterson --variant turn-first $(REFUTED)
	$(ALLOT) lab check abp
	$(ALLOT) lab check abp --links unordered,lossy,capacity=2 --property order $(REFUTED)
	$(ALLOT) lab check tree --topology path:2 --l 2 --k 2 --start clean
	$(ALLOT) lab check tree --topology path:2 --l 1 --counter 2 --variant printed --property safety $(REFUTED)
	$(ALLOT) lab check spanning --topology path:3 --fairness none
	$(ALLOT) lab check spanning --topology path:2 --root elected --variant any-distance $(REFUTED)
	$(ALLOT) lab check network --topology path:2 --counter 2
	$(ALLOT) lab check pool --l 2 --k 2
	$(ALLOT) lab check pool $(POOL) --margin 2
	$(ALLOT) lab check pool $(POOL) --margin 1 --property exclusive $(REFUTED)
	$(ALLOT) lab check wave --topology complete:3 --l 2 --start arbitrary --daemon distributed --fairness weak
	$(ALLOT) lab check wave --topology complete:3 --l 2 --start arbitrary --daemon distributed --variant printed $(REFUTED)
	$(ALLOT) lab check ring-links
	$(ALLOT) lab check ring-links --numbers 2 --property sound $(REFUTED)
	$(ALLOT) lab check wave-links --topology path:3 --l 1 --numbers 2 --start clean
	$(ALLOT) lab check band --object gcs --n 3 --l 1 --k 2 --coterie majority
	$(ALLOT) lab check band --object mutex --n 3 --coterie own:0+1 --times 2 --variant printed --property rest $(REFUTED)
	$(ALLOT) lab check claim --clients 2 --resources 2 --most 2
	$(ALLOT) lab check claim --clients 2 --resources 2 --most 2 --variant printed --property rests $(REFUTED)
	$(ALLOT) lab check slots --algorithm gtex --n 4 --k 2 --crashes 1
	$(ALLOT) lab check slots --algorithm gtex --n 5 --k 2 --crashes 1 --reads interval
	$(ALLOT) lab check slots --algorithm gtex --n 3 --k 1 --variant printed --property exclusion $(REFUTED)

# The targets are found by name. Finding none is a failure: the parsers are supposed to be fuzzed.
.PHONY: fuzz
fuzz: go-version ## each fuzz target for FUZZTIME (10s unless given)
	@targets=$$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed 's/:func /:/' | sort || true); \
	if [ -z "$$targets" ]; then echo 'there is no fuzz target in any _test.go file' >&2; exit 1; fi; \
	for target in $$targets; do \
		folder=$$(dirname "$${target%%:*}"); name=$${target##*:}; \
		echo "go test -run=NONE -fuzz=^$$name\$$ -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x $$folder"; \
		go test -run=NONE -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x "$$folder"; \
	done

.PHONY: bench
bench: go-version ## the benchmarks in bench/
	go test -run=NONE -bench=. -benchmem ./bench/...

# Searches and soaks that take minutes or hours. They are no part of `make test`; the tests that do this read ALLOT_FULL.
.PHONY: full
full: build ## long searches, sweeps and soaks: hours
	$(ALLOT) lab check ring --topology ring:7 --k 7 --daemon distributed
	$(ALLOT) lab check ring --topology ring:8 --k 8 --daemon central
	ALLOT_FULL=1 go test -timeout 24h -v -run 'Full|Kills' ./...

.PHONY: clean
clean: ## remove what the other targets have built
	rm -rf bin

# What the machine must have. Each of these says in plain words what is missing.

.PHONY: go-version
go-version:
	@command -v go >/dev/null || { echo 'allot needs Go $(NEED_GO) or newer, and there is no go command. See https://go.dev/doc/install' >&2; exit 1; }
	@have=$$(go env GOVERSION) || { echo 'allot needs Go $(NEED_GO) or newer' >&2; exit 1; }; \
	plain=$$(sed -E 's/^go([0-9]+(\.[0-9]+)*).*/\1/' <<<"$$have"); \
	oldest=$$(printf '%s\n' '$(NEED_GO)' "$$plain" | sort -V | head -n 1); \
	if [ "$$oldest" != '$(NEED_GO)' ]; then echo "allot needs Go $(NEED_GO) or newer, and this is $$have" >&2; exit 1; fi

# The race detector needs a C compiler. Where there is none and Debian's packages can be had, it is installed.
.PHONY: c-compiler
c-compiler:
	@cc=$$(go env CC); command -v $$cc >/dev/null || { command -v apt-get >/dev/null && apt-get update && apt-get install -y gcc libc6-dev; } || true; \
	command -v $$cc >/dev/null || { echo "the race detector needs a C compiler, and there is no $$cc command" >&2; exit 1; }

# Partitions are made with network namespaces. Where the ip command is missing and Debian's packages can be had, it is installed.
.PHONY: namespaces
namespaces:
	@command -v ip >/dev/null || { command -v apt-get >/dev/null && apt-get update && apt-get install -y iproute2; } || true; \
	command -v ip >/dev/null || { echo 'the fault tests need the ip command (package iproute2) and the right to make network namespaces' >&2; exit 1; }
