#!/bin/sh
# Does the work of «make deb» and «make rpm», which call it after «make dist».  See README in this directory.
#
#   build.sh deb|rpm VERSION BUILD		takes the tarball in BUILD, writes packages to BUILD/deb or BUILD/rpm
#
# Environment: DEB_BUILD_OPTIONS; RPM_OPTFLAGS replaces the distribution's compiler flags.
set -eu
umask 022
kind=${1:-} version=${2:-} build=${3:-}
here=helper/packaging
fail() { echo "make $kind: $*" >&2; exit 1; }

# Runs a command without make's variables and the caller's compiler flags, which would change the packages.
clean() {
	env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C.UTF-8 ${TZ:+"TZ=$TZ"} DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" "$@"
}

needs() { command -v "$1" >/dev/null || fail "$1 is missing: sh tests/deps.sh $kind"; }

is_version() { [ "$2" = "$version" ] || fail "the Makefile says version $version, and $1 says $2: change one of them"; }

unpack() {
	work=$(cd "$build" && pwd)/$kind
	rm -rf "$work"
	mkdir -p "$work"
	tar -xzf "$build/gpuhelper-$version.tar.gz" -C "$work"
	tree=$work/gpuhelper-$version
}

deb() {
	needs dpkg-buildpackage
	needs dh
	is_version "$here/debian/changelog" "$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' $here/debian/changelog)"
	unpack
	cp -R "$tree/$here/debian" "$tree/debian"
	(cd "$tree" && clean dpkg-buildpackage -us -uc -b -J) >"$work/log" 2>&1 ||
	    { tail -n 25 "$work/log" >&2; fail "dpkg-buildpackage failed: $work/log"; }
	find "$work" -maxdepth 1 -name '*.deb' | sort
}

rpm_() {
	needs rpmbuild
	is_version "$here/gpuhelper.spec" "$(sed -n 's/^Version: *//p' $here/gpuhelper.spec)"
	unpack
	mkdir "$work/SOURCES"
	cp "$build/gpuhelper-$version.tar.gz" "$work/SOURCES/"
	set -- --define "_topdir $work" --define '_buildhost localhost'
	set -- "$@" --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1'
	[ -z "${RPM_OPTFLAGS:-}" ] || set -- "$@" --define "optflags $RPM_OPTFLAGS"
	# on Debian rpm is only a tool, and its database does not know the build dependencies
	rpm -q rpm >/dev/null 2>&1 || set -- --nodeps "$@"
	epoch=$(date -u -d "$(sed -n 's/^ -- .*>  //p' $here/debian/changelog | head -n 1)" +%s)
	(cd "$work" && clean SOURCE_DATE_EPOCH="$epoch" rpmbuild -bb "$@" "$tree/$here/gpuhelper.spec") >"$work/log" 2>&1 ||
	    { tail -n 25 "$work/log" >&2; fail "rpmbuild failed: $work/log"; }
	find "$work/RPMS" -name '*.rpm' | sort
}

case $kind in
deb) deb ;;
rpm) rpm_ ;;
*) echo "usage: make deb, make rpm" >&2; exit 2 ;;
esac
