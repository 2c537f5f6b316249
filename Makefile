# Makefile - builds, tests and installs attn-mt. `make help` lists the targets.
#
# Variables   CC, CFLAGS, LDFLAGS  as everywhere; CFLAGS holds only what you may want to change (-O2)
#             BUILD=dir            where everything that is built goes (default build)
#             SANITIZE=list        -fsanitize=list in compiling and linking
#             WERROR=1             warnings are errors
#             MPI=1                a program that trains on several machines, in build-mpi; MPICC=mpicc.mpich
#                                  takes another MPI than the compiler mpicc does
#             V=1                  show the commands
#             FUZZ_SECONDS=n       time of each program of make fuzz; FUZZ_SEED=n for the same inputs
#             TORTURE_MINUTES=n    time of make torture, instead of 200 kills and 100 races
#             JOBS=n               compile jobs of the targets that install and build in one go
#             PREFIX, DESTDIR      for install and uninstall
#             BASH_FOLDER, ZSH_FOLDER, FISH_FOLDER   where these shells look for completions

# MPI's own compiler knows where MPI is; which one it calls is said by OMPI_CC or MPICH_CC.
ifdef MPI
BUILD ?= build-mpi
MPICC ?= mpicc
override CC := $(MPICC)
NO_MPI := $(shell command -v $(firstword $(MPICC)) >/dev/null 2>&1 || echo "$(MPICC), the compiler of MPI")
endif

BUILD ?= build
PREFIX ?= /usr/local
BASH_FOLDER ?= $(PREFIX)/share/bash-completion/completions
ZSH_FOLDER ?= $(PREFIX)/share/zsh/site-functions
FISH_FOLDER ?= $(PREFIX)/share/fish/vendor_completions.d
# make takes a name with a space for two: half of a folder would be written to, or removed.
$(foreach folder,BUILD PREFIX DESTDIR,$(if $(word 2,$($(folder))),\
	$(error $(folder) has a space in it: '$($(folder))')))
CFLAGS ?= -O2
HOT_CFLAGS ?= -O3
OBJCOPY ?= objcopy
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
VERSION := $(shell sed -n 's/^.define ATTN_MT_VERSION "\(.*\)"/\1/p' src/base/version.h)

PACKAGES := openblas libutf8proc libcjson zlib
TEST_PACKAGES := cmocka

# Homebrew keeps some libraries out of pkg-config's way.
ifeq ($(shell uname -s),Darwin)
BREWED := $(wildcard /opt/homebrew/opt/*/lib/pkgconfig /usr/local/opt/*/lib/pkgconfig)
export PKG_CONFIG_PATH := $(PKG_CONFIG_PATH):$(subst $() ,:,$(BREWED))
endif
PKG_CONFIG ?= pkg-config
missing = $(shell for p in $(1); do $(PKG_CONFIG) --exists $$p 2>/dev/null || echo $$p; done)
# Without pkg-config nothing is known of the libraries: they may well be there.
NO_PKG_CONFIG := $(shell command -v $(firstword $(PKG_CONFIG)) >/dev/null 2>&1 || \
	echo "$(PKG_CONFIG), the program that knows where libraries are")

# ---- flags ---------------------------------------------------------------------------------------------

# Contraction of a*b+c into one rounding is left to the kernels that ask for it: elsewhere the same source
# gives the same bits with every compiler.
BASE_CFLAGS := -std=c11 -D_GNU_SOURCE -Isrc -Wall -Wextra -Wpedantic -Wshadow -Wconversion
BASE_CFLAGS += -ffp-contract=off -fopenmp-simd -pthread
# Objects fit into the program and into the shared library, which shows only what its header declares.
BASE_CFLAGS += -fPIC -fvisibility=hidden
ifdef WERROR
BASE_CFLAGS += -Werror
endif
ifdef SANITIZE
# clang tells of each loop that checks keep from becoming vector code.
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-pass-failed
endif
# What only `attn-mt serve` needs: without it the rest is built. SERVE=no leaves it out.
SERVE ?= $(shell $(PKG_CONFIG) --exists libmicrohttpd 2>/dev/null && echo yes || echo missing)
ifeq ($(SERVE),yes)
BASE_CFLAGS += -DATTN_MT_HTTP $(shell $(PKG_CONFIG) --cflags libmicrohttpd)
SERVE_LIBS := $(shell $(PKG_CONFIG) --libs libmicrohttpd)
endif
# Formats of files with pairs: without a library they are refused, with its name. XML=no, PO=no leave it out.
XML ?= $(shell $(PKG_CONFIG) --exists libxml-2.0 2>/dev/null && echo yes || echo missing)
ifeq ($(XML),yes)
BASE_CFLAGS += -DATTN_MT_XML
PACKAGES_OF_FORMATS := libxml-2.0
FORMAT_LIBS := $(shell $(PKG_CONFIG) --libs libxml-2.0)
endif
PO ?= $(shell echo '\#include <gettext-po.h>' | $(CC) $(CPPFLAGS) -E -xc - >/dev/null 2>&1 && echo yes || \
	echo missing)
ifeq ($(PO),yes)
BASE_CFLAGS += -DATTN_MT_PO
FORMAT_LIBS += -lgettextpo
endif
# The language of a text, for --languages auto-en: refused without the library. DETECT=no leaves it out.
DETECT ?= $(shell $(PKG_CONFIG) --exists libexttextcat 2>/dev/null && echo yes || echo missing)
ifeq ($(DETECT),yes)
FINGERPRINTS := $(shell $(PKG_CONFIG) --variable=pkgdatadir libexttextcat)
BASE_CFLAGS += -DATTN_MT_DETECT -DATTN_MT_FINGERPRINTS=\"$(FINGERPRINTS)\"
BASE_CFLAGS += $(shell $(PKG_CONFIG) --cflags libexttextcat)
DETECT_LIBS := $(shell $(PKG_CONFIG) --libs libexttextcat)
endif
# Hardened as distributions do it, who bring the checks of the C library themselves; those want an optimizer.
# Sanitizers have checks of their own.
FORTIFIED := $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))
OPTIMIZED := $(filter -O1 -O2 -O3 -Os,$(CFLAGS))
ifeq ($(SANITIZE),)
BASE_CFLAGS += -fstack-protector-strong
BASE_CFLAGS += $(if $(FORTIFIED),,$(if $(OPTIMIZED),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
ifeq ($(shell uname -s),Linux)
HARDENED_LINK := -pie -Wl,-z,relro,-z,now
endif
endif
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) $(PACKAGES_OF_FORMATS) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)
TEST_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(TEST_PACKAGES) 2>/dev/null)
TEST_LIBS := $(shell $(PKG_CONFIG) --libs $(TEST_PACKAGES) 2>/dev/null)
COMPILE = $(CC) $(BASE_CFLAGS) $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(SANITIZE_FLAGS)
LINK = $(CC) $(CFLAGS) $(SANITIZE_FLAGS) -pthread $(HARDENED_LINK) $(LDFLAGS)
LIBS = $(PKG_LIBS) $(FORMAT_LIBS) $(DETECT_LIBS) -lm $(LDLIBS)

# src/kern/kern_impl.c becomes one object per instruction set; the program picks one when it starts.
KERN_FLAGS_base :=
KERN_FLAGS_avx2 := -mavx2 -mfma
KERN_FLAGS_avx512 := -mavx512f -mavx512vl -mavx512dq -mavx512bw -mprefer-vector-width=512
KERN_FLAGS_vnni := $(KERN_FLAGS_avx512) -mavx512vnni
KERN_FLAGS_bf16 := $(KERN_FLAGS_vnni) -mavx512bf16
KERN_FLAGS_amx := $(KERN_FLAGS_vnni) -mamx-tile -mamx-bf16 -mamx-int8
KERN_ISAS := base
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
# gcc would load ahead, and then have no registers for the sums (clang has no such flag).
ifneq ($(filter aarch64-%,$(MACHINE)),)
KERN_FLAGS_base := $(shell $(CC) -Werror -fno-schedule-insns -E -xc /dev/null >/dev/null 2>&1 && \
	echo -fno-schedule-insns)
endif
ifneq ($(filter x86_64-% amd64-%,$(MACHINE)),)
KERN_ISAS += avx2 avx512 vnni
# What older compilers do not know; and tile units (AMX) are handed out by Linux alone.
knows = $(shell $(CC) $(KERN_FLAGS_$(1)) -E -xc /dev/null >/dev/null 2>&1 && echo yes)
ifeq ($(call knows,bf16),yes)
KERN_ISAS += bf16
BASE_CFLAGS += -DKERN_BF16
endif
ifeq ($(shell uname -s)/$(call knows,amx),Linux/yes)
KERN_ISAS += amx
BASE_CFLAGS += -DKERN_AMX
endif
endif
KERN_CFLAGS = $(HOT_CFLAGS) -ffp-contract=fast -DKERN_SUFFIX=$(1) $(KERN_FLAGS_$(1))

# ---- what is built -------------------------------------------------------------------------------------

OBJ := $(BUILD)/obj
KERN := src/kern/kern_impl.c
SRC := $(sort $(shell find src -name '*.c'))
OTHER_COMM := src/distributed/comm_$(if $(MPI),self,mpi).c
OTHER_SERVE := $(if $(SERVE_LIBS),,src/serve/http.c src/serve/http_request.c)
LIB_SRC := $(filter-out src/cli/main.c $(KERN) $(OTHER_SERVE) $(OTHER_COMM),$(SRC))
objects = $(patsubst src/%.c,$(1)/%.o,$(2))
LIB_OBJ := $(call objects,$(OBJ),$(LIB_SRC))
LIB_OBJ += $(if $(wildcard $(KERN)),$(KERN_ISAS:%=$(OBJ)/kern/kern_impl_%.o))
# The same numerics in double precision, for the gradient checks.
F64_FOLDERS := base io kern autograd layers config models text sentencepiece tokenizer formats data
F64_SRC := $(filter $(F64_FOLDERS:%=src/%/%),$(LIB_SRC))
F64_OBJ := $(call objects,$(BUILD)/f64/obj,$(F64_SRC))
F64_OBJ += $(if $(wildcard $(KERN)),$(BUILD)/f64/obj/kern/kern_impl_base.o)
ASSETS := $(BUILD)/obj/explorer_assets
LIB_OBJ += $(ASSETS).o
LIB := $(BUILD)/libattn-mt.a
F64_LIB := $(BUILD)/f64/libattn-mt-f64.a
BIN := $(BUILD)/attn-mt

# A test program is a C file with a main; the rest of unit, golden or gradcheck is its library.
test_sources = $(sort $(wildcard $(1:%=tests/%/*.c)))
mains = $(if $(1),$(shell grep -l '^int main.' $(1) /dev/null))
TEST_SRC := $(call test_sources,unit unit/* golden gradcheck)
TEST_MAINS := $(call mains,$(TEST_SRC))
TEST_HELPERS := $(filter-out $(TEST_MAINS),$(TEST_SRC))
TEST_BIN := $(TEST_MAINS:%.c=$(BUILD)/%)
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/obj/%.o)
FAULT_BIN := $(BUILD)/faults/fault_target $(BUILD)/faults/reseal
FAULT_OBJ := $(FAULT_BIN:$(BUILD)/faults/%=$(BUILD)/obj/tests/faults/%.o)
FUZZ_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/fuzz/*.c))
FUZZ_SRC := $(filter-out %/fuzz_main.c,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
REPLAY_BIN := $(FUZZ_BIN:$(BUILD)/fuzz/%=$(BUILD)/replay/%)

.PHONY: all
all: $(BIN) $(LIB) ## build the program and its library (the default)

$(BIN): $(OBJ)/cli/main.o $(LIB)
	$(say) LINK $@
	$(q)$(LINK) -o $@ $^ $(LIBS) $(SERVE_LIBS)
	$(if $(filter missing,$(SERVE)),@echo "make: note: without libmicrohttpd 'attn-mt serve' is left out")
	$(if $(filter missing,$(XML)),@echo "make: note: without libxml2 TMX and XLIFF files are not read")
	$(if $(filter missing,$(PO)),@echo "make: note: without libgettextpo PO files are not read")
	$(if $(filter missing,$(DETECT)),@echo "make: note: without libexttextcat no language is detected")

$(LIB): $(LIB_OBJ)
$(F64_LIB): $(F64_OBJ)
$(LIB) $(F64_LIB):
	$(say) "AR  " $@
	$(q)rm -f $@ && $(AR) rcs $@ $^

# The explorer's style sheet and script as lines of C, without their comments and indents.
EXPLORER := src/viz/explorer/explorer
to_c = sed -e 's/^ *//; /^\/\//d; /^\/\*.*\*\/$$/d; /^$$/d' -e 's/[\\"?]/\\&/g; s/.*/    "&\\n",/'
$(ASSETS).c: $(EXPLORER).css $(EXPLORER).js Makefile
	$(q)mkdir -p $(@D) && { echo '#include "viz/explorer_page.h"'; \
	echo 'const char *const EXPLORER_STYLE[] = {'; $(to_c) $(EXPLORER).css; echo '    0};'; \
	echo 'const char *const EXPLORER_SCRIPT[] = {'; $(to_c) $(EXPLORER).js; echo '    0};'; } \
	>$@.new && mv $@.new $@
$(ASSETS).o: $(ASSETS).c $(BUILD)/flags
	$(compile) -c -o $@ $<

# The numeric folders run hot loops: they are optimized further than the rest.
$(OBJ)/kern/%.o $(OBJ)/autograd/%.o $(OBJ)/layers/%.o $(OBJ)/train/%.o: HOT = $(HOT_CFLAGS)

$(OBJ)/%.o: src/%.c $(BUILD)/flags
	$(compile) -c -o $@ $<

# The page of `attn-mt serve`: each file becomes lines of C.
PAGE := $(patsubst src/serve/page/%,$(BUILD)/page/%.inc,$(wildcard src/serve/page/*))
$(OBJ)/serve/page.o: BASE_CFLAGS += -I$(BUILD)/page
$(OBJ)/serve/page.o: $(PAGE)
$(BUILD)/page/%.inc: src/serve/page/%
	$(q)mkdir -p $(@D) && sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n",/' $< >$@

$(OBJ)/kern/kern_impl_%.o: $(KERN) $(BUILD)/flags
	$(compile) $(call KERN_CFLAGS,$*) -c -o $@ $<

$(BUILD)/f64/obj/kern/kern_impl_base.o: $(KERN) $(BUILD)/flags
	$(compile) $(call KERN_CFLAGS,base) -DREAL_DOUBLE -c -o $@ $<

$(BUILD)/f64/obj/%.o: src/%.c $(BUILD)/flags
	$(compile) -DREAL_DOUBLE -c -o $@ $<

$(BUILD)/obj/tests/%.o: tests/%.c $(BUILD)/flags
	$(compile) $(TEST_CFLAGS) -Itests $(if $(filter gradcheck/%,$*),-DREAL_DOUBLE) -c -o $@ $<

TEST_FOLDERS := tests/unit tests/golden tests/gradcheck
$(TEST_FOLDERS:%=$(BUILD)/obj/%/helpers.a): $(BUILD)/obj/%/helpers.a:
	$(q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

$(TEST_BIN): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o
	$(say) LINK $@
	$(q)mkdir -p $(@D) && $(LINK) -o $@ $^ $(TEST_LIBS) $(LIBS) $(SERVE_LIBS)

define test_folder
$(BUILD)/obj/$(1)/helpers.a: $(patsubst %.c,$(BUILD)/obj/%.o,$(filter $(1)/%,$(TEST_HELPERS)))
$(filter $(BUILD)/$(1)/%,$(TEST_BIN)): \
	$(BUILD)/obj/$(1)/helpers.a $(if $(filter %/gradcheck,$(1)),$(F64_LIB),$(LIB))
endef
$(foreach folder,$(TEST_FOLDERS),$(eval $(call test_folder,$(folder))))

# ---- the library for other programs --------------------------------------------------------------------

# One object whose hidden symbols are local: nothing of ours can clash with a program's own names.
SHARED := $(BUILD)/libattn_mt.so.1
LIBRARY := $(SHARED) $(BUILD)/libattn_mt.so $(BUILD)/libattn_mt.a
LIBRARY_MAP := src/library/attn_mt.map
LIBRARY_OBJ := $(patsubst src/%.c,$(OBJ)/%.o,$(wildcard src/library/*.c))
WHOLE := $(OBJ)/library/whole.o
.PHONY: link-libs
link-libs: # for a program that is linked without this Makefile
	@echo $(LIBS) $(SERVE_LIBS)

.PHONY: lib
ifeq ($(shell uname -s),Darwin)
LIBRARY :=
lib: ; @echo "make: libattn_mt needs the linker of ELF systems (Linux, BSD)" >&2; exit 1
else
lib: $(LIBRARY) ## build libattn_mt for other programs, shared and static
endif

$(SHARED): $(LIBRARY_OBJ) $(LIB) $(LIBRARY_MAP)
	$(say) LINK $@
	$(q)$(filter-out -pie,$(LINK)) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(LIBRARY_MAP) \
	$(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter %.o %.a,$^) $(LIBS)
$(BUILD)/libattn_mt.so: $(SHARED)
	$(q)ln -sf $(<F) $@
$(BUILD)/libattn_mt.a: $(LIBRARY_OBJ) $(LIB)
	$(say) "AR  " $@
	$(q)$(LD) -r -o $(WHOLE) $^
	$(q)$(OBJCOPY) --localize-hidden --localize-symbol=blas_thread_init $(WHOLE)
	$(q)rm -f $@ && $(AR) rcs $@ $(WHOLE)

# Programs that scripts of the tests run.
$(FAULT_BIN): $(BUILD)/faults/%: $(BUILD)/obj/tests/faults/%.o $(LIB)
	$(say) LINK $@
	$(q)mkdir -p $(@D) && $(LINK) -o $@ $^ $(LIBS)

# Objects depend on the flags they were compiled with, so that a build folder never mixes two sets.
FLAGS_TEXT := $(filter-out -Werror,$(COMPILE) $(HOT_CFLAGS) $(LDFLAGS))
$(BUILD)/flags: force
	+@mkdir -p $(BUILD) && { echo '$(FLAGS_TEXT)' | cmp -s - $@ || echo '$(FLAGS_TEXT)' > $@; }
.PHONY: force
force:

# Only the rules written here: make's own would try to link "x.d" from "x.d.o".
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
%.d: ;
-include $(patsubst %.o,%.d,$(LIB_OBJ) $(F64_OBJ) $(TEST_OBJ) $(FAULT_OBJ) $(FUZZ_OBJ) $(OBJ)/cli/main.o)

q := $(if $(V),,@)
say = @echo "  "
compile = $(if $(V),,@echo "   CC  " $@;) mkdir -p $(@D) && $(COMPILE) $(HOT) -MMD -MP

# Without the libraries the first object says so, instead of a compiler error about a header.
MISSING := $(call missing,$(PACKAGES))
MISSING_FOR_TESTS := $(call missing,$(TEST_PACKAGES))
require = $(if $(1)$(NO_MPI),$(2): | missing-$(3)$(newline)missing-$(3):; \
	@echo "make: missing: $(or $(NO_MPI),$(NO_PKG_CONFIG),$(1))" >&2; \
	echo "hint: run '$(INSTALL_DEPS)' (or '$(INSTALL_DEPS) --print' to see what it would do)" >&2; \
	exit 1)
INSTALL_DEPS := scripts/install-deps$(if $(MPI), --mpi)
define newline


endef
$(eval $(call require,$(MISSING),$(LIB_OBJ) $(F64_OBJ) $(OBJ)/cli/main.o,libraries))
$(eval $(call require,$(MISSING_FOR_TESTS),$(TEST_OBJ),test-libraries))

# The program that measures: what "make bench" runs.
BENCH_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard scripts/bench/*.c))
$(BUILD)/bench: $(BENCH_OBJ) $(LIB)
	$(say) LINK $@
	$(q)$(LINK) -o $@ $^ $(LIBS)
$(OBJ)/scripts/%.o: scripts/%.c $(BUILD)/flags
	$(compile) -Iscripts -c -o $@ $<
-include $(BENCH_OBJ:%.o=%.d)

# Clients that test and measure the server.
$(BUILD)/serve-client: $(OBJ)/scripts/serve/client.o
	$(say) LINK $@
	$(q)$(LINK) -o $@ $^

# ---- demo and tests ------------------------------------------------------------------------------------

# Targets that a newcomer types first install what is missing, then build on all cores.
.PHONY: deps demo test check tests asan ubsan tsan tsan-programs sanitize coverage bench fuzz fuzz-programs
.PHONY: faults torture torture-mpi test-arm64
again = +@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
deps:
	@scripts/install-deps

demo: deps ## train on the embedded corpus, translate, score, draw attention: two minutes
	$(again) all
	@BUILD=$(BUILD) scripts/demo

test: deps ## build and run every test
	$(again) all tests
	@BUILD=$(BUILD) tests/run

check: deps ## the tests that take seconds
	$(again) all tests
	@BUILD=$(BUILD) tests/run --fast

MEASURES := $(BUILD)/bench $(BUILD)/serve-client
tests: all $(LIBRARY) $(TEST_BIN) $(FAULT_BIN) $(REPLAY_BIN) $(MEASURES) ## build the test programs

asan: deps ## unit and command tests under the address sanitizer
	$(again) BUILD=build-asan SANITIZE=address CFLAGS='-O1 -g' HOT_CFLAGS=-O1 all tests
	@BUILD=build-asan tests/run --sanitized unit golden cli

ubsan: deps ## unit and command tests under the undefined-behaviour sanitizer
	$(again) BUILD=build-ubsan SANITIZE=undefined CFLAGS='-O1 -g' HOT_CFLAGS=-O1 all tests
	@BUILD=build-ubsan tests/run --sanitized unit golden cli

tsan: deps ## the library and the server under the thread sanitizer
	$(again) BUILD=build-tsan SANITIZE=thread CFLAGS='-O1 -g' HOT_CFLAGS=-O1 tsan-programs
	@BUILD=build-tsan tests/run unit/library/attn_mt cli/serve.sh
tsan-programs: $(BIN) $(BUILD)/tests/unit/library/attn_mt $(BUILD)/serve-client

sanitize: deps ## both sanitizers in one build
	$(again) BUILD=build-sanitize SANITIZE=address,undefined CFLAGS='-O1 -g' HOT_CFLAGS=-O1 all tests
	@BUILD=build-sanitize tests/run --sanitized unit golden cli

test-arm64: ## the tests on an emulated arm64 processor (Debian: cross compiler and qemu-user)
	@scripts/arm64

coverage: deps ## branches that no test takes of the code that reads files: each has a reason, or it fails
	$(again) BUILD=build-coverage CFLAGS='-O0 -g --coverage' HOT_CFLAGS=-O1 LDFLAGS=--coverage all tests
	@BUILD=build-coverage scripts/coverage

# libFuzzer programs: FUZZ_SECONDS each; what breaks one stays in build-fuzz. Freed memory is soon used again:
# a run frees little, and fresh pages for each cost as much as the run.
FUZZ_ASAN := quarantine_size_mb=4:malloc_context_size=8
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 0 # 0: another one each time
$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(LIB)
	$(say) LINK $@
	$(q)mkdir -p $(@D) && $(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBS)

# The same targets with a main of their own, which runs them on files: what tests/selftest/fuzz.sh uses.
$(BUILD)/replay/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/fuzz_main.o $(LIB)
	$(say) LINK $@
	$(q)mkdir -p $(@D) && $(LINK) -o $@ $^ $(LIBS)

fuzz: deps ## feed the loaders with changed input, with clang's libFuzzer
	$(again) BUILD=build-fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined CFLAGS='-O1 -g' \
	HOT_CFLAGS=-O1 fuzz-programs
	@for program in $(FUZZ_BIN:$(BUILD)/%=build-fuzz/%); do name=$${program##*/}; \
	mkdir -p build-fuzz/corpus/$$name && echo "$$program" && \
	ASAN_OPTIONS=$(FUZZ_ASAN) $$program -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -timeout=60 \
	-rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 -artifact_prefix=build-fuzz/ \
	build-fuzz/corpus/$$name tests/fuzz/corpus/$$name || \
	exit 1; done
fuzz-programs: $(FUZZ_BIN)

# Every command under every fault of the table in tests/faults/faults.c; "make test" takes a sample.
FAULTS_RUN = ATTN_MT=$(abspath $(BIN)) tests/faults/commands.sh
faults: all ## every call and allocation of every command fails once; memory, files and disks give out
	@$(FAULTS_RUN) --all
TORTURE_MINUTES ?= 0
torture: all ## kill trainings at random times and go on, start two at once in one folder
	@FAULTS='kill race' $(FAULTS_RUN) --kills 200 --minutes $(TORTURE_MINUTES) --seed $$(date +%s)
# Of each with each MPI library that is here; cut links need root and Open MPI.
MPI_KILLS ?= 20
MPI_STOPS ?= 10
MPI_CUTS ?= 5
MPI_COUNTS = MPI_KILLS=$(MPI_KILLS) MPI_STOPS=$(MPI_STOPS) MPI_CUTS=$(MPI_CUTS)
torture-mpi: all ## kill, stop and cut off ranks of trainings, and go on: a quarter of an hour
	@for script in promise_lost_rank mpi_hosts; do TMP=$$(mktemp -d) || exit 1; $(MPI_COUNTS) \
	ATTN_MT=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) TMP=$$TMP sh tests/cli/$$script.sh; code=$$?; \
	rm -rf "$$TMP"; case $$code in 0 | 77) ;; *) exit 1 ;; esac; done
.SECONDARY: $(FUZZ_OBJ) $(FAULT_OBJ)

# Options of the benchmark; `$(BUILD)/bench --help` lists them.
BENCH ?= --config configs/bench-bidirectional.json
bench: deps ## speed of products, ops, training and translation on this machine: two minutes
	$(again) all $(BUILD)/bench
	@$(BUILD)/bench $(BENCH)

# ---- care of the source --------------------------------------------------------------------------------

FORMATTED = $(shell find src tests scripts -name '*.[ch]')
# The layout is that of one version, others differ in places. Where CI is set, a check that is skipped fails.
CLANG_FORMAT ?= clang-format
has_clang_format = $(CLANG_FORMAT) --version 2>/dev/null | grep -q 'version 14\.'
.PHONY: lint tidy format man install uninstall deb dist sbom clean help
lint: ## layout, include rule, file headers, static checks
	@if $(has_clang_format); then $(CLANG_FORMAT) --dry-run -Werror $(FORMATTED); \
	elif [ -n "$$CI" ]; then echo "lint: clang-format 14 is not installed" >&2; exit 1; \
	else echo "skipped: clang-format 14 is not installed"; fi
	@scripts/check-source
	@if command -v cppcheck >/dev/null; then cppcheck --quiet --std=c11 --inline-suppr --error-exitcode=1 -Isrc \
	--enable=warning,portability --suppress=missingIncludeSystem --suppress=unknownMacro src; \
	else echo "skipped: cppcheck is not installed"; fi

# What clang-tidy is not asked stands in .clang-tidy with its reason; what gcc's analyzer is not asked of a
# file stands there as NOANALYZE(name). It gets loops as they are written: it does not see where the sums
# begin that OpenMP makes of them. Where there is no MPI, what calls it is left out.
MPI_CFLAGS = $(patsubst -I%,-isystem%,$(filter -I%,\
	$(shell mpicc --showme:compile 2>/dev/null || mpicc -compile_info 2>/dev/null)))
TIDY_FLAGS = $(filter-out -fopenmp-simd,$(BASE_CFLAGS)) -Wno-unknown-pragmas $(PKG_CFLAGS) -I$(BUILD)/page \
	$(MPI_CFLAGS)
tidy: $(PAGE) ## clang-tidy and gcc's analyzer over the source: minutes
	@command -v clang-tidy >/dev/null || { echo "make: clang-tidy is not installed" >&2; exit 1; }
	@failed=; for file in $(if $(MPI_CFLAGS),$(SRC),$(filter-out %/comm_mpi.c,$(SRC))); do echo "$$file"; \
	clang-tidy --quiet "$$file" -- $(TIDY_FLAGS) 2>/dev/null || failed="$$failed $$file"; \
	gcc -fanalyzer -Werror -O1 $(TIDY_FLAGS) -c -o /dev/null "$$file" \
	$$(sed -n 's/.*NOANALYZE(\([a-z-]*\)).*/-Wno-analyzer-\1/p' "$$file") || failed="$$failed $$file"; done; \
	[ -z "$$failed" ] || { echo "not clean:$$failed" >&2; exit 1; }

format: ## rewrite the C files in the project's layout
	@$(has_clang_format) || { echo "make: '$(CLANG_FORMAT)' is not clang-format 14" >&2; exit 1; }
	$(CLANG_FORMAT) -i $(FORMATTED)

man: all ## regenerate the man page from the help texts of the program
	@BUILD=$(BUILD) scripts/make-man --write

# What install puts below DESTDIR; README.md finds its pictures, and the examples of the man page their files.
SHARE := $(PREFIX)/share/attn-mt
DOC := $(PREFIX)/share/doc/attn-mt
MAN := $(PREFIX)/share/man/man1
COMPLETIONS := bash:$(BASH_FOLDER)/attn-mt zsh:$(ZSH_FOLDER)/_attn-mt fish:$(FISH_FOLDER)/attn-mt.fish
SHARED_FILES := $(wildcard configs/*.json data/*.tsv data/README.md)
DOC_FILES := README.md CHANGELOG.md LICENSE
DOC_FILES += $(wildcard docs/*.md docs/*.svg docs/*.png docs/*.safetensors examples/*)
# What those link to; read_model.py takes its segmenter from beside it.
DOC_FILES += CONTRIBUTING.md src/README.md tests/README.md data/README.md python/README.md
DOC_FILES += configs/multi30k.plan scripts/read_model.py scripts/read_tokenizer.py
DOC_FOLDERS := $(sort $(patsubst %/,$(DOC)/%,$(filter-out ./,$(dir $(DOC_FILES)))))
SBOM := $(DOC)/attn-mt.spdx.json
INSTALLED := $(PREFIX)/bin/attn-mt $(MAN)/attn-mt.1 $(SHARED_FILES:%=$(SHARE)/%) $(DOC_FILES:%=$(DOC)/%)
INSTALLED += $(SBOM)
COMPLETION_FILES := $(foreach pair,$(COMPLETIONS),$(lastword $(subst :, ,$(pair))))
INSTALLED += $(COMPLETION_FILES)
LIBDIR ?= $(PREFIX)/lib
PC_LIBDIR = $(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
LIBRARY_FILES := $(LIBDIR)/libattn_mt.so.1 $(LIBDIR)/libattn_mt.so $(LIBDIR)/libattn_mt.a \
	$(LIBDIR)/pkgconfig/attn-mt.pc $(PREFIX)/include/attn_mt.h
INSTALLED += $(if $(LIBRARY),$(LIBRARY_FILES))

install: all $(if $(LIBRARY),lib) ## copy program, library, man page, completions and data below PREFIX
	install -d $(sort $(dir $(INSTALLED:%=$(DESTDIR)%)))
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/attn-mt
	sed 's|/usr/local|$(PREFIX)|' docs/attn-mt.1 >$(DESTDIR)$(MAN)/attn-mt.1
	for file in $(SHARED_FILES); do install -m 644 $$file $(DESTDIR)$(SHARE)/$$file || exit 1; done
	for file in $(DOC_FILES); do install -m 644 $$file $(DESTDIR)$(DOC)/$$file || exit 1; done
	for pair in $(COMPLETIONS); do $(BIN) completion $${pair%%:*} >$(DESTDIR)$${pair#*:} || exit 1; done
	$(MAKE_SBOM) >$(DESTDIR)$(SBOM)
	chmod 644 $(DESTDIR)$(MAN)/attn-mt.1 $(DESTDIR)$(SBOM) $(COMPLETION_FILES:%=$(DESTDIR)%)
	[ ! -e $(SHARED) ] || { set -e; \
	install -m 644 $(SHARED) $(BUILD)/libattn_mt.a $(DESTDIR)$(LIBDIR); \
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/libattn_mt.so; \
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(PC_LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBS)|' \
	src/library/attn-mt.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/attn-mt.pc; \
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/attn-mt.pc; \
	install -m 644 src/library/attn_mt.h $(DESTDIR)$(PREFIX)/include/attn_mt.h; }

uninstall: ## remove what install copied
	rm -f $(INSTALLED:%=$(DESTDIR)%)
	for folder in $(SHARE)/configs $(SHARE)/data $(SHARE) $(DOC_FOLDERS) $(DOC); do \
	rmdir $(DESTDIR)$$folder 2>/dev/null || true; done

deb: ## a package for Debian and Ubuntu in BUILD/deb, built there from the files of make dist
	@command -v dh >/dev/null || { echo "make: 'make deb' needs debhelper" >&2; \
	echo "hint: apt-get install debhelper dpkg-dev" >&2; exit 1; }
	@rm -rf $(BUILD)/deb && BUILD=$(BUILD)/deb scripts/make-dist >/dev/null
	@cd $(BUILD)/deb && tar -xzf attn-mt-$(VERSION).tar.gz && cd attn-mt-$(VERSION) && \
	env -u BUILD -u MAKEFLAGS dpkg-buildpackage -b -us -uc
	@ls $(BUILD)/deb/*.deb

# The libraries that the program is linked with, for scripts/make-sbom.
LINKED := $(PACKAGES) $(PACKAGES_OF_FORMATS) $(if $(filter yes,$(PO)),gettextpo) \
	$(if $(DETECT_LIBS),libexttextcat) $(if $(SERVE_LIBS),libmicrohttpd) $(if $(MPI),mpi)
MAKE_SBOM = PKG_CONFIG='$(PKG_CONFIG)' CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' scripts/make-sbom $(LINKED)
sbom: ## the libraries that are linked, with versions and licences: SPDX 2.3 in BUILD
	@mkdir -p $(BUILD) && $(MAKE_SBOM) >$(BUILD)/attn-mt-$(VERSION).spdx.json.new
	@mv $(BUILD)/attn-mt-$(VERSION).spdx.json.new $(BUILD)/attn-mt-$(VERSION).spdx.json
	@echo $(BUILD)/attn-mt-$(VERSION).spdx.json

dist: ## the source as a tarball in BUILD, with its SHA-256
	@BUILD=$(BUILD) scripts/make-dist

clean: ## remove everything that was built
	rm -rf $(BUILD) build-mpi build-clang build-asan build-ubsan build-sanitize build-coverage build-fuzz \
	build-tsan build-arm64 build-python

help: ## this list
	@echo "attn-mt $(VERSION)"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | \
	awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'
