# SPDX-License-Identifier: Apache-2.0
# The front door. Everything is done by CMake, npm and scripts/.
export PATH := $(CURDIR)/build/node/bin:$(PATH)
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help setup build engine packages quickstart test test-long walls bench soak lint format install clean

help:
	@echo 'make quickstart   install what is missing, build, run the first program'
	@echo 'make build        the engine into build/bin, the packages into packages/*/dist'
	@echo 'make test         everything that must pass before a change lands'
	@echo 'make test-long    the same at full size'
	@echo 'make walls        takes each wall of containment away and writes down which checks fall (docs/threat-model.md)'
	@echo 'make bench        times and memory beside other tools, held to SPECIFICATION.md (QUICK=1; ONLY=create,exec)'
	@echo 'make soak         memory, descriptors and threads under an hour of load (SOAK_MINUTES=60); build/soak/latest.md'
	@echo 'make lint         linters and format checks only;  make format  applies the formatters'
	@echo 'make install      programs into PREFIX/bin (PREFIX=$(PREFIX))'
	@echo 'make clean        remove what was built'

setup:
	@scripts/setup.sh build

build: setup engine packages

engine:
	@mkdir -p build
	@cmake --preset dev >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset dev -j $(JOBS) --target programs

packages:
	@npm run --silent build

quickstart: build
	@node examples/quickstart/mastra.mjs

test:
	@scripts/setup.sh test
	@node scripts/run-tests.mjs

test-long:
	@scripts/setup.sh test
	@node scripts/run-tests.mjs --long

bench:
	@scripts/setup.sh bench
	@mkdir -p build
	@cmake --preset dev >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset dev -j $(JOBS) --target programs stopwatch
	@npm run --silent build
	@node bench/run.mjs $(if $(QUICK),--quick) --only '$(ONLY)'

walls:
	@scripts/setup.sh test
	@node scripts/walls.mjs

soak: build
	@node_modules/.bin/tsc -p tests/tsconfig.json
	@node build/tests/soak/soak.js

lint: engine
	@scripts/lint.sh all

format:
	@scripts/lint.sh fix

install: build
	@cmake --install build/dev --prefix $(PREFIX)

clean:
	rm -rf build packages/*/dist
