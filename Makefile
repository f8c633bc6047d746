# gpuhelper has no configure step.  «make help» lists the targets.  Variables for install: DESTDIR=… PREFIX=/usr
# SYSCONFDIR=/etc and those below.
PREFIX     ?= /usr
SYSCONFDIR ?= /etc
RUNSTATE   ?= /run
LOCALSTATE ?= /var
LIBEXECDIR ?= $(PREFIX)/libexec
BINDIR     ?= $(PREFIX)/bin
SBINDIR    ?= $(PREFIX)/sbin
MANDIR     ?= $(PREFIX)/share/man
LIBDIR     ?= $(PREFIX)/lib
B          ?= build
# no: install the helper without its setuid bit; it then works only behind gpuhelper.socket
SETUID     ?= yes
VERSION    := 0.1.0

CC         ?= gcc
PKG_CONFIG ?= pkg-config
CFLAGS     ?= -O2 -g
WERROR     ?=
WARN = -Wall -Wextra -Wformat=2 -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
       -Wvla -Wundef -Wcast-qual -Wpointer-arith -Wwrite-strings -Werror=implicit-function-declaration \
       -Werror=return-type $(WERROR)
# leaves out flags that the compiler lacks: gcc 12 has no -fhardened, clang 14 no -fzero-call-used-regs on some targets
try  = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo '$(1)')
HARDEN := -fstack-protector-strong -fno-delete-null-pointer-checks -fno-strict-overflow -fno-common \
       $(call try,-fstack-clash-protection) $(call try,-fcf-protection=full) \
       $(call try,-ftrivial-auto-var-init=zero) $(call try,-fzero-call-used-regs=used-gpr) \
       $(call try,-fstrict-flex-arrays=3)
# lets the linker drop functions that a program does not call
SECTIONS = -ffunction-sections -fdata-sections
FORTIFY ?= -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
DEFS = -D_GNU_SOURCE -DGPUHELPER_VERSION='"$(VERSION)"' -DGPUHELPER_CONFDIR='"$(SYSCONFDIR)/gpuhelper"' \
       -DGPUHELPER_RUNDIR='"$(RUNSTATE)/gpuhelper"' -DGPUHELPER_LOGDIR='"$(LOCALSTATE)/log/gpuhelper"' \
       -DGPUHELPER_STATEDIR='"$(LOCALSTATE)/lib/gpuhelper"' \
       -DGPUHELPER_LIBEXEC='"$(LIBEXECDIR)/gpuhelper"' -DGPUHELPER_BINDIR='"$(BINDIR)"' \
       -DGPUHELPER_LIBDIR='"$(LIBDIR)"'

# make V=1 shows the commands
Q = $(if $(V),,@)
SAN ?=
ifneq ($(SAN),)
HARDEN := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
FORTIFY :=
SANLINK := -fsanitize=$(SAN)
endif

LINKHARDEN = -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code,--as-needed
# names each target by its relative and its absolute path, because B may be either
CPPDEPS = -MMD -MP -MT $(patsubst $(CURDIR)/%,%,$@) -MT $(abspath $@)
ALLCFLAGS = -std=c11 $(CFLAGS) $(WARN) $(HARDEN) $(SECTIONS) $(FORTIFY) $(DEFS) $(PKG_CFLAGS) -fPIE $(CPPDEPS)
PKGS := libconfig jansson libudev libselinux libsystemd nettle hogweed yaml-0.1
# one line instead of the compiler's many; the other targets build nothing, or call this Makefile again, and what is built
# can be installed where no compiler is
ifneq ($(if $(MAKECMDGOALS),$(filter all unit $(B)/% $(if $(wildcard $(B)/gpuhelper),,install),$(MAKECMDGOALS)),all),)
missing := $(shell for p in $(firstword $(CC)) $(firstword $(PKG_CONFIG)); do command -v $$p >/dev/null || echo $$p; done; \
       $(PKG_CONFIG) --exists $(PKGS) libcurl zlib 2>/dev/null || for p in $(PKGS) libcurl zlib; do \
       $(PKG_CONFIG) --exists $$p 2>/dev/null || echo $$p; done)
$(if $(missing),$(error missing here: $(missing): run sh tests/deps.sh build))
endif
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS))

lib  = $(shell $(PKG_CONFIG) --libs $(1))
slib = $(shell $(PKG_CONFIG) --static --libs $(1))

# Each room of helper/ becomes an archive, together with the rooms beneath it; the pure rooms share libpure.a.  A
# program is its main file, linked with the archives that it needs.
pure_rooms := base json kernel gpu cdi lease policy ask vet
archives := pure host root look engine read judge label user ctl
sources = $(wildcard $(foreach r,$(if $(filter pure,$(1)),$(pure_rooms),$(1)),helper/$(r)/*.c helper/$(r)/*/*.c))
mains := helper/root/main.c helper/look/main.c helper/engine/main.c helper/read/main.c helper/judge/main.c helper/judge/judgeplain.c helper/judge/judgeudev.c helper/label/main.c helper/user/runc.c helper/ctl/main.c
$(foreach a,$(archives),$(eval $(a)_objs := $(patsubst %.c,$(B)/%.o,$(filter-out $(mains),$(call sources,$(a))))))
programs := $(B)/gpuhelper $(B)/gpuhelper-look $(B)/gpuhelper-engine $(B)/gpuhelper-read $(B)/gpuhelper-judge $(B)/gpuhelper-judge-udev $(B)/gpuhelper-label $(B)/gpuhelper-runc $(B)/gpuhelper-wait $(B)/gpuhelperctl

.PHONY: all help check check-vm bench bench-growth unit users install uninstall selinux install-selinux clean dist deb rpm
all: $(programs)

# only «gpuhelperctl keys fetch» speaks to the network
$(B)/helper/ctl/%.o: PKG_CFLAGS += $(shell $(PKG_CONFIG) --cflags libcurl)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<')
	$(Q)$(CC) $(ALLCFLAGS) -c $< -o $@

# the style sheet of the report's page, as a string in the program: without comments and indents, line by line
report_style := $(B)/helper/ctl/report/report_style.o
ctl_objs += $(report_style)
$(report_style): helper/ctl/report/report.css Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<')
	$(Q){ echo 'const char report_style[] =' && sed -e 's|/[*].*[*]/||' -e '/[/][*]/,/[*][/]/d' -e 's/^[[:space:]]*//' \
	    -e '/^$$/d' -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' $< && echo ';'; } | $(CC) $(ALLCFLAGS) -x c -c - -o $@

$(foreach a,$(archives),$(eval $(B)/lib$(a).a: $$($(a)_objs); @rm -f $$@ && $$(AR) rcsD $$@ $$^))

# static: no loader, no shared library, no NSS.  The helper is static because it runs as root, gpuhelper-look because it
# has capabilities; the wrapper, gpuhelper-engine, gpuhelper-read and gpuhelper-judge, because a static program starts
# faster, and each container or grant starts one
STATIC := $(if $(SAN),-pie,-static-pie)
$(B)/gpuhelper: $(B)/helper/root/main.o $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -Wl,-Map=$@.map -o $@ $^

$(B)/gpuhelper-look: $(B)/helper/look/main.o $(B)/liblook.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -o $@ $^

$(B)/gpuhelper-engine: $(B)/helper/engine/main.o $(B)/libengine.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -o $@ $^

$(B)/gpuhelper-label: $(B)/helper/label/main.o $(B)/liblabel.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) -pie $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,-z,nodlopen -o $@ $^ $(call lib,libselinux)

WRAPPER_LIBS := $(call $(if $(SAN),lib,slib),libconfig jansson)
$(B)/gpuhelper-runc: $(B)/helper/user/runc.o $(B)/libuser.a $(B)/libread.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -o $@ $^ $(WRAPPER_LIBS)

# the waiter runs inside containers of any kind: no C library, and only the compiler's headers and the kernel's
WAITFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g $(WARN) -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none \
    -fno-builtin -fno-pie
$(B)/gpuhelper-wait: helper/wait/main.c helper/wait/system.h helper/ask/waiting.h helper/base/text.h Makefile
	@mkdir -p $(@D)
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(WAITFLAGS) -static -nostdlib -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,relro -Wl,--gc-sections \
	    -s -o $@ helper/wait/main.c

READ_LIBS := $(call $(if $(SAN),lib,slib),libconfig jansson yaml-0.1)
$(B)/gpuhelper-read: $(B)/helper/read/main.o $(B)/libread.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -o $@ $^ $(READ_LIBS)

JUDGE_LIBS := $(call $(if $(SAN),lib,slib),jansson hogweed nettle) -lgmp
$(B)/gpuhelper-judge: $(B)/helper/judge/main.o $(B)/helper/judge/judgeplain.o $(B)/libjudge.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(STATIC) $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,--gc-sections -o $@ $^ $(JUDGE_LIBS)

# distributions have libudev only as a shared library; all other libraries are linked statically
JUDGE_UDEV_LIBS := $(if $(SAN),,-Wl,-Bstatic) $(call lib,jansson hogweed nettle) -lgmp $(if $(SAN),,-Wl,-Bdynamic) $(call lib,libudev)
$(B)/gpuhelper-judge-udev: $(B)/helper/judge/main.o $(B)/helper/judge/judgeudev.o $(B)/libjudge.a $(B)/libroot.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) -pie $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -Wl,-z,nodlopen -Wl,--gc-sections -o $@ $^ $(JUDGE_UDEV_LIBS)

$(B)/gpuhelperctl: $(B)/helper/ctl/main.o $(B)/libctl.a $(B)/liblabel.a $(B)/libuser.a $(B)/libread.a $(B)/libjudge.a $(B)/libhost.a $(B)/libpure.a
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) -pie $(SANLINK) $(LDFLAGS) $(LINKHARDEN) -o $@ $^ $(call lib,libconfig jansson libudev libselinux libsystemd hogweed nettle yaml-0.1 zlib) -lgmp

# tests/unit/t_*.c: one TAP program each
unit := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/t_*.c))
$(B)/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h) $(B)/libctl.a $(B)/liblabel.a $(B)/liblook.a $(B)/libengine.a $(B)/libroot.a $(B)/libuser.a $(B)/libread.a $(B)/libjudge.a $(B)/libhost.a $(B)/libpure.a
	@mkdir -p $(@D)
	$(if $(V),,@echo '  LD  $@')
	$(Q)$(CC) $(filter-out -fPIE,$(ALLCFLAGS)) -Ihelper $(SANLINK) -o $@ $< $(B)/libctl.a $(B)/liblabel.a $(B)/liblook.a $(B)/libengine.a $(B)/libroot.a $(B)/libuser.a $(B)/libread.a $(B)/libjudge.a $(B)/libhost.a $(B)/libpure.a \
	    $(call lib,libconfig jansson libudev libselinux hogweed nettle yaml-0.1) -lgmp
unit: $(unit)

help:
	@sed -n 's/^#: //p' Makefile
#: make                  builds the programs (sh tests/deps.sh build installs what that needs)
#: make users            makes the group gpuhelper and the system users of its programs; as root
#: make install          installs; changes no engine.  DESTDIR=DIR PREFIX=/usr SYSCONFDIR=/etc SETUID=no
#: make uninstall        takes the engines' links away, then the files; FORCE=yes even while containers hold GPUs
#: make selinux          builds the SELinux modules;  make install-selinux  installs and loads them
#: make deb, make rpm    build packages (sh tests/deps.sh deb);  make dist  packs the sources
#: make unit             builds the unit tests;  make check  runs all tests;  make check-vm  those in a virtual machine
#: make bench            measures what gpuhelper costs;  make bench-growth  how that grows
#: make clean            removes build/
#: V=1 shows the commands.  Users begin with README.md, and «sh tests/demo.sh».

check:
	sh tests/check.sh
check-vm:
	sh tests/check.sh vm
# measures what gpuhelper costs, and writes tests/bench/RESULTS.md; as root, on a machine that does nothing else
bench: all
	sh tests/bench/bench.sh quick
	sh tests/bench/bench.sh phases
	sh tests/bench/bench.sh waiting
	sh tests/bench/bench.sh whole
bench-growth: all
	sh tests/bench/bench.sh growth

# install.sh refuses a sanitizer build: by ASAN_OPTIONS=log_path, the caller of a setuid program could write any file
places = B='$(B)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' RUNSTATE='$(RUNSTATE)' \
    LOCALSTATE='$(LOCALSTATE)' LIBEXECDIR='$(LIBEXECDIR)' BINDIR='$(BINDIR)' SBINDIR='$(SBINDIR)' MANDIR='$(MANDIR)' \
    LIBDIR='$(LIBDIR)' SETUID='$(SETUID)' SAN='$(SAN)' SEMODULE='$(SEMODULE)' FORCE='$(FORCE)'
# creates the group and the users that «make install» needs
users:
	$(Q)sh helper/users.sh
install: all
	$(Q)$(places) sh helper/install.sh install
# removes the links to the wrapper first, then everything but the administrator's files; with FORCE=yes even while
# containers hold GPUs
FORCE ?= no
uninstall:
	$(Q)$(places) sh helper/install.sh uninstall

# packs all that is needed to build, install and test, and nothing that was built; the same files give the same bytes
dist_dir := gpuhelper-$(VERSION)
changed = $(shell sed -n 's/^ -- .*>  //p' helper/packaging/debian/changelog | head -n 1)
dist:
	@mkdir -p $(B)
	$(Q)tar -cf $(B)/$(dist_dir).tar --exclude=__pycache__ --exclude='*.o' --exclude='*~' --exclude='.*.sw?' --sort=name --owner=0 --group=0 --numeric-owner \
	    --mtime='$(changed)' --mode=u+rw,go=rX --format=gnu --transform 's|^|$(dist_dir)/|S' LICENSE Makefile README.md SECURITY.md .gitignore helper policy.d selinux tests udev
	$(Q)gzip -nf $(B)/$(dist_dir).tar
	@echo $(B)/$(dist_dir).tar.gz
# make packages from the tarball of «make dist»
deb rpm: dist
	$(Q)sh helper/packaging/build.sh $@ $(VERSION) $(B)

# Builds the policy modules with the Makefile of selinux-policy-devel (Debian: selinux-policy-dev), for this machine's
# policy.  Its m4 never ends if a name is both a tunable and an interface, hence the limit.
SELINUX_DEVEL ?= /usr/share/selinux/devel/Makefile
SEMODULE ?= semodule
selinux_modules := gpuhelper nvidia-container
selinux: $(selinux_modules:%=$(B)/selinux/%.pp)
$(B)/selinux/%.pp: selinux/%.te selinux/%.fc selinux/%.if
	@test -e $(SELINUX_DEVEL) || { echo "make selinux: $(SELINUX_DEVEL) is not there: install selinux-policy-devel" \
	    "(Debian: selinux-policy-dev)" >&2; exit 1; }
	$(if $(V),,@echo '  PP  $@')
	@rm -rf $(B)/selinux/$* && mkdir -p $(B)/selinux/$*
	@# in file contexts, RHEL 9 and earlier want /var/run instead of /run: SELINUX_RUN=/var/run
	$(Q)cp selinux/*.if selinux/$*.te $(B)/selinux/$*/ && \
	    sed 's|^/run/|$(SELINUX_RUN)/|' selinux/$*.fc >$(B)/selinux/$*/$*.fc
	$(Q)ulimit -v 4000000; $(MAKE) -s -C $(B)/selinux/$* -f $(SELINUX_DEVEL) $*.pp >$(B)/selinux/$*/log 2>&1 && \
	    mv $(B)/selinux/$*/$*.pp $@ || { cat $(B)/selinux/$*/log >&2; exit 1; }
SELINUX_RUN ?= /run

# installs the modules and loads them; with SEMODULE= (empty) it does not load them
install-selinux: selinux
	$(Q)$(places) sh helper/install.sh install-selinux

clean:
	rm -rf build

-include $(wildcard $(B)/helper/*/*.d $(B)/helper/*/*/*.d $(B)/unit/*.d)
