# The ways in: `make help` lists them. Nothing is needed but make and Python 3.11 or newer with pip.

PYTHON ?= python3
CORES ?= all

# Looked up before the environment's own python comes first on the path.
INTERPRETER := $(or $(shell command -v $(PYTHON) 2>/dev/null),$(PYTHON))

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check bench bench-precision clean clean-all

# The scripts of the workflow are run as `python ...`, which must be the environment's.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
BIN := .venv/bin

RUN_REQUIREMENTS := $(patsubst %,envs/%.txt,workflow data models statistics)
CONFIGURATIONS := config/config.yaml config/demo.yaml $(sort $(wildcard config/studies/*.yaml))

##@ Use

help:  ## list these targets
	@echo "usage: make [PYTHON=python3.12] [CORES=2] TARGET"
	@awk 'BEGIN {FS = ":.*  ## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*  ## / {printf "  %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: .venv/ready  ## make the environment, run the embedded demo and its report
	$(BIN)/snakemake --cores $(CORES) --configfile config/demo.yaml
	$(BIN)/snakemake --cores 1 --configfile config/demo.yaml --report results/demo/report.html
	@echo
	@echo "The demo is done. Open in a browser or a viewer:"
	@echo "  tables   results/demo/tables/"
	@echo "  figures  results/demo/figures/"
	@echo "  report   results/demo/report.html"

clean:  ## remove the demo's results and the caches of the tools, keep everything else
	rm -rf results/demo logs/demo benchmarks/demo .pytest_cache .ruff_cache .hypothesis
	find tests workflow -name __pycache__ -prune -exec rm -rf {} +

clean-all: clean  ## also remove the environment; results of studies stay
	rm -rf .venv .venv-ferret

##@ Development

test: check  ## everything that must hold: `check`, then the tests
	$(BIN)/python -m pytest

test-slow: .venv/ready-for-tests  ## the tests marked slow
	$(BIN)/python -m pytest -m slow

check: .venv/ready-for-tests  ## linters, formatters, and a dry run of every shipped configuration
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules workflow/Snakefile
	@for configuration in $(CONFIGURATIONS); do \
		echo "snakemake --lint --configfile $$configuration"; \
		$(BIN)/snakemake --lint --configfile $$configuration || exit 1; \
		echo "snakemake --dry-run --configfile $$configuration"; \
		$(BIN)/snakemake --dry-run --quiet rules host --configfile $$configuration || exit 1; \
	done

BENCH := results/bench
BENCH_MODELS := $(foreach model,small_bert minilm,$(BENCH)/models/geco_all/$(model)/seed0)

$(BENCH)/bench.yaml: bench/prepare.py .venv/ready-for-tests
	$(BIN)/python bench/prepare.py $@

bench: $(BENCH)/bench.yaml .venv-ferret/ready  ## time this engine against ferret, captum and lime (an hour)
	$(BIN)/snakemake --cores $(CORES) $(BENCH_MODELS:%=%/model.safetensors) --configfile $(BENCH)/bench.yaml
	$(BIN)/python bench/compare.py --models $(foreach model,$(BENCH_MODELS),$(notdir $(patsubst %/,%,$(dir $(model))))=$(model)) \
		--items $(BENCH)/datasets/geco_all/items.parquet --peer-python .venv-ferret/bin/python --output $(BENCH)/bench

bench-precision: $(BENCH)/bench.yaml  ## what bfloat16 changes in a table of disparities (ten minutes)
	$(BIN)/python bench/precision_effect.py --study $< --cores $(CORES)

.venv-ferret/ready: bench/ferret.txt
	@"$(INTERPRETER)" -m venv --clear .venv-ferret
	@.venv-ferret/bin/python -m pip install -qq --disable-pip-version-check -r bench/ferret.txt
	@touch $@

# The environment. The stamp `ready` stands only while the environment is whole, so whatever interrupts an
# installation, the next call starts over from an empty folder (a virtual environment cannot be built elsewhere
# and moved into place: its commands hold its path). Changed requirements start over too, so nothing stale stays.

INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check

.venv/ready: $(RUN_REQUIREMENTS) envs/constraints.txt
	@"$(INTERPRETER)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: Evenlight needs Python 3.11 or newer, and '$(PYTHON)' is not:" \
			"$$("$(INTERPRETER)" --version 2>&1). Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Installing the pinned requirements into .venv; the first time this takes some minutes and about 2 GB."
	@echo "(Where torch would come with CUDA and there is no GPU, several GB more can be spared:" \
		"PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make ...)"
	@"$(INTERPRETER)" -m venv --clear .venv
	@$(INSTALL) $(RUN_REQUIREMENTS:%=-r %)
	@touch $@

.venv/ready-for-tests: .venv/ready envs/tests.txt
	@echo "Installing what the tests need on top."
	@rm .venv/ready
	@$(INSTALL) -r envs/tests.txt
	@touch .venv/ready $@
