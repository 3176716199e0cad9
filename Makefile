# The retrieval-baseline workbook. A bare machine needs python3 (3.11 to 3.14) and make; uv is used when present.
PYTHON ?= python3
# make hands what it is given to the shell in the environment, where a space or an apostrophe is no syntax.
SET := --evals="$${EVALS:-evals}"
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
HELPERS := "$(BIN)/python" -m helpers
READY := $(VENV)/ready
TOOLS := .cache/tools
SAIL := .cache/sail
SPHINX := .cache/sphinx
unexport PYTHONDONTWRITEBYTECODE  # without byte code the notebooks take twice as long

.DEFAULT_GOAL := help
.PHONY: help report baseline check proof lab learn progress answers compare card audit plan freeze import carry export new prompts drop site sql refresh lock
GROUPS := Learn:report lab learn progress answers,Measure:baseline compare card sql,Make a set:new import prompts audit plan freeze carry drop export,$\
  Maintain:check proof refresh site lock help

help:  ## show this list
	@echo "make COMMAND [EVALS=folder] [PYTHON=python3.12]"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { said[$$1] = $$2 } END { n = split("$(GROUPS)", groups, ","); \
	  for (g = 1; g <= n; g++) { split(groups[g], part, ":"); print "\n" part[1]; m = split(part[2], names, " "); \
	  for (i = 1; i <= m; i++) printf "  %-9s %s\n", names[i], said[names[i]] } }' $(MAKEFILE_LIST)

report: $(READY)  ## run the sessions and the write-up on EVALS, render it, print the baseline; FULL=1 runs the further notebooks too
	@$(HELPERS) report $(SET) $(if $(FULL),--full)

baseline: $(READY)  ## the first number, in seconds: nDCG@10 and hit@5 of EVALS, how sure they are, what so many queries can decide
	@$(HELPERS) baseline $(SET)

check: $(READY)  ## execute the notebooks, compare every number, test the helpers: about a minute; ONLY="session_b" for one and what it loads
	@$(HELPERS) check $(SET) $${ONLY:+--only="$$ONLY"}

asked = $(if $(ONLY),$(filter $(1),$(ONLY)),all)
proof: $(READY) $(if $(call asked,browser picture langchain site),$(TOOLS)/ready) $(if $(call asked,sail),$(SAIL)/ready) $(if $(call asked,picture site),$(SPHINX)/ready)  ## try all that check leaves out; ONLY="witness mutants" runs parts alone
	@"$(BIN)/python" helpers/tests/proof/parts.py

# answer_yes: Ctrl-C ends it at once. No lesson needs a terminal; that is no defence, a notebook runs what it likes.
# Root is let in, since a container often has no other account.
export AS_ROOT := You are root, so all that a notebook runs may read and change everything on this machine. \
In a container that is usual; anywhere else stop with Ctrl-C and use an account of your own.
LAB = $(if $(SOLUTIONS),notebooks,$(if $(SHORT),learn-short,learn))
lab: $(READY)  ## open your copies of the sessions in JupyterLab, on this machine only; SHORT=1: two hours; SOLUTIONS=1 opens the originals
	$(if $(SOLUTIONS),,@$(HELPERS) learn $(if $(SHORT),--short))
	@EVALS="$${EVALS:-$(if $(SOLUTIONS),evals,$(LAB)/evals)}"; \
	  case "$$EVALS" in /*|?:*) ;; *) EVALS="$$PWD/$$EVALS" ;; esac; export EVALS; \
	  as_root=; if [ "$$(id -u 2>/dev/null)" = 0 ]; then as_root=--allow-root; echo "$$AS_ROOT" >&2; fi; \
	  WORKBOOK_LIVE=1 exec "$(BIN)/jupyter" lab --ip=127.0.0.1 --notebook-dir=. --ServerApp.answer_yes=True \
	  --ServerApp.terminals_enabled=False $$as_root $(LAB)/$(if $(SHORT),two_hours,session_a_corpus_and_labels).ipynb

learn: $(READY)  ## write your copies into learn/, exercises open; never over your work (FRESH=1 moves it aside); SHORT=1: two hours, in learn-short/
	@$(HELPERS) learn $(if $(FRESH),--fresh) $(if $(SHORT),--short)

progress: $(READY)  ## your copies: what is done, wrong, not started, and what comes next; CLASS=folder for a folder of learners' copies
	@$(HELPERS) progress $${CLASS:+--class="$$CLASS"}

answers: $(READY)  ## for who teaches: solutions, quick tests and a form for the minutes, a page a session, to print
	@$(HELPERS) answers

compare: $(READY)  ## hold RUN=path (or several, with a space between) against the baseline, or against BASE=path; SPLIT=dev, test or all; OPTIONS="--strict --pairs 20"
	@test -n "$$RUN" || { echo "compare needs a run: make compare RUN=path/to/run.trec"; exit 1; }
	@set -f; test -e "$$RUN" && set -- "$$RUN" || set -- $$RUN; \
	  $(HELPERS) compare $(SET) $${BASE:+--base="$$BASE"} $${SPLIT:+--split="$$SPLIT"} $$OPTIONS -- "$$@"

refresh: $(READY)  ## execute the notebooks in place and update the numbers in the READMEs; ONLY="session_b retrieval_eval" executes these
	@$(HELPERS) refresh $${ONLY:+--only="$$ONLY"}

card: $(READY)  ## write the card beside RUN=path, or what it lacks: the hashes that say of which set the run is
	@test -n "$$RUN" || { echo "card needs a run: make card RUN=path/to/run.trec"; exit 1; }
	@$(HELPERS) card $(SET) -- "$$RUN"

freeze: $(READY)  ## draw the negatives and write the manifest of EVALS: its files, hashes, counts, seeds
	@$(HELPERS) freeze $(SET)

audit: $(READY)  ## ask an evaluation set what a careful reader would: pass, warn, fail, remedy
	@$(HELPERS) audit $(SET)

plan: $(READY)  ## what the labels of EVALS can tell, how many more would tell, and the pairs to read next
	@$(HELPERS) plan $(SET)

export: $(READY)  ## write the labels of EVALS into TO=folder as CSV, Parquet, BEIR and TREC qrels
	@test -n "$$TO" || { echo "export needs a folder: make export TO=path"; exit 1; }
	@$(HELPERS) export $(SET) --to="$$TO"

import: $(READY)  ## turn FROM=kind:path into an evaluation set in TO=folder; OPTIONS="--split test --max-docs 10000"
	@test -n "$$FROM" && test -n "$$TO" || { echo "import needs both: make import FROM=kind:path TO=folder"; exit 1; }
	@set -f; $(HELPERS) import --from="$$FROM" --to="$$TO" $$OPTIONS

carry: $(READY)  ## take the labels of EVALS over to changed documents, FROM=kind:path or folder: in place, or into a new set TO=folder
	@test -n "$$EVALS" && test -n "$$FROM" || { echo "carry needs both: make carry EVALS=folder FROM=kind:path, and TO=folder if not in place"; exit 1; }
	@set -f; test -n "$$TO" && set -- --to="$$TO" || set -- --in-place; \
	  $(HELPERS) carry $(SET) --from="$$FROM" "$$@" $$OPTIONS

new: $(READY)  ## start an empty evaluation set in TO=folder: guide, two documents, three queries
	@test -n "$$TO" || { echo "new needs a folder: make new TO=path"; exit 1; }
	@$(HELPERS) new --to="$$TO"

prompts: $(READY)  ## write prompts that ask a model for queries on pages of EVALS; OPTIONS=--take adds those that you accept
	@set -f; $(HELPERS) prompts $(SET) $$OPTIONS

drop: $(READY)  ## move QUERY=id out of EVALS, with all that was judged of it, into its dropped.jsonl
	@test -n "$$QUERY" || { echo "drop needs a query: make drop QUERY=id EVALS=folder"; exit 1; }
	@$(HELPERS) drop $(SET) -- "$$QUERY"

site: $(READY) $(SPHINX)/ready  ## build the course into site/, to read and to search; nothing in it asks the network
	@$(HELPERS) site

sql: $(READY)  ## index, search and evaluate EVALS with BM25 in SQL, run into TO=folder; OPTIONS="--engine sail --docs x.parquet"
	@test -n "$$TO" || { echo "sql needs a folder: make sql TO=path"; exit 1; }
	@set -f; PYTHONPATH="$(SAIL)" $(HELPERS) sql $(SET) --to="$$TO" $$OPTIONS

# One at a time: a tool that cannot be had is named, the others are there.
$(TOOLS)/ready: helpers/tests/proof/tools.txt $(READY)
	@rm -rf $(TOOLS) && mkdir -p $(TOOLS)
	@for tool in $$(sed 's/ *#.*//' $<); do \
	  if command -v uv >/dev/null; then uv pip install --quiet --python "$(BIN)/python" --target $(TOOLS) "$$tool"; \
	  else "$(BIN)/python" -m pip install --quiet --disable-pip-version-check --upgrade --target $(TOOLS) "$$tool"; fi 2>/dev/null \
	  && touch $@ || echo "the tool $$tool is not installed: that needs the network once"; done

$(SAIL)/ready: helpers/tests/proof/sail.txt $(READY)
	@rm -rf $(SAIL) && mkdir -p $(SAIL)
	@set -- --quiet --target $(SAIL) --no-deps --requirement $<; \
	  if command -v uv >/dev/null; then uv pip install --python "$(BIN)/python" "$$@"; \
	  else "$(BIN)/python" -m pip install --disable-pip-version-check "$$@"; fi 2>/dev/null \
	  && touch $@ || echo "the packages of $< are not installed: that needs the network once"

$(SPHINX)/ready: helpers/teach/sphinx/requirements.txt
	@"$(PYTHON)" helpers/install.py $(SPHINX) $<

LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --quiet --no-emit-index-url --no-header
lock:  ## resolve requirements.in and the site's packages again for all platforms (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: $(PYTHON) -m pip install uv"; exit 1; }
	@$(LOCK) requirements.in --output-file requirements.txt
	@printf '%s\n' myst-nb sphinx-book-theme latex2mathml | $(LOCK) - --output-file helpers/teach/sphinx/requirements.txt

$(READY): requirements.txt
	@command -v "$(PYTHON)" >/dev/null || { echo "$(PYTHON) not found: install Python 3.11 to 3.14, or name it: make PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" helpers/install.py $(VENV)
