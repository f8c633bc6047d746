#!/bin/sh
# make deb and make rpm: builds the packages twice in different places, inspects, installs, uses, upgrades, removes and
# purges them.  TAP.  As root.
#
# The .rpm is compiled without optimisation, which saves a minute: it has the same files, with the same things that
# could differ between places.  The packages are installed in a sandbox (lib/sandbox.sh) that has the machine's dpkg
# database, with its packages' dependencies.  rpm has a database of its own there.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/tap.sh"
if [ "${PACKAGES_STAGE:-}" != inside ]; then
	T=$(mktemp -d)
	trap 'rm -rf "$T"' EXIT
	version=$(sed -n 's/^VERSION *:= *//p' "$here/Makefile")
	for p in dpkg-buildpackage dh rpmbuild; do
		command -v $p >/dev/null || { echo "1..0 # SKIP $p is not installed: sh tests/deps.sh check"; exit 0; }
	done
fi

# build TREE NAME: builds both packages, with another umask, time zone and clock each time
build() {
	make -s -C "$1" B="$T/$2" deb >"$T/$2.log" 2>&1 &&
	    RPM_OPTFLAGS='-O0 -g' make -s -C "$1" B="$T/$2" rpm >>"$T/$2.log" 2>&1
}

built() {
	mkdir "$T/one" "$T/two" "$T/elsewhere"
	make -s -C "$here" B="$T" dist >/dev/null &&
	    tar -xzf "$T/gpuhelper-$version.tar.gz" -C "$T/elsewhere" --strip-components=1
	(umask 077; sleep 1.1; TZ=Pacific/Kiritimati build "$T/elsewhere" two) & other=$!
	build "$here" one
	one=$?
	wait $other
	two=$?
	cp "$T/one.log" "$T/out"
	t "make deb, make rpm" [ $one = 0 ]
	cp "$T/two.log" "$T/out"
	t "make deb and make rpm in another place, from the tarball of make dist" [ $two = 0 ]
	: >"$T/out"
	(cd "$T/one" && find . -name '*.deb' -o -name '*.rpm') | sort >"$T/names"
	# rpm 4.20 also makes a package of the debugging symbols
	grep -v '/gpuhelper-debug[a-z]*-[0-9][^/]*[.]rpm$' "$T/names" | sed 's|.*/||; s/[-_][0-9].*[.]/ /' | sort | tr '\n' ',' >"$T/kinds"
	cp "$T/names" "$T/out"
	t "there are gpuhelper and gpuhelper-selinux as .deb and .rpm, and the debugging symbols" \
	    [ "$(cat "$T/kinds")" = "gpuhelper deb,gpuhelper rpm,gpuhelper-dbgsym deb,gpuhelper-selinux deb,gpuhelper-selinux rpm," ]
	while read -r f; do t "the same bytes: ${f##*/}" cmp "$T/one/$f" "$T/two/$f"; done <"$T/names"
	cmp "$T/one/gpuhelper-$version.tar.gz" "$T/two/gpuhelper-$version.tar.gz" >"$T/out" 2>&1
	t "the same bytes: the tarball of make dist" [ $? = 0 ]
}

# tree DIRECTORY: mode, owner and name of everything in it except directories
tree() { find "$1" ! -type d -printf '%04m %u:%g /%P\n' | sed 's/\(man.*\)\.gz$/\1/' | sort; }

# The machine may have packages that deps.sh does not install, so dpkg-checkbuilddeps gets a database of only deps.sh's packages.
depended() {
	mkdir "$T/admin"
	sh "$here/tests/deps.sh" --print deb | tr ' ' '\n' >"$T/admin/want"
	awk -v list="$T/admin/want" 'BEGIN { while ((getline name < list) > 0) want[name] = 1; RS = ""; ORS = "\n\n" } want[$2]' \
	    /var/lib/dpkg/status >"$T/admin/status"
	dpkg-checkbuilddeps --admindir="$T/admin" "$here/helper/packaging/debian/control" >"$T/out" 2>&1
	t "«deps.sh deb» installs all that dpkg-buildpackage asks for" [ $? = 0 ]
}

# would_install PACKAGE...: what apt would install where nothing is installed
would_install() {
	: >"$T/nothing"
	apt-get install -s -q -o Dir::State::status="$T/nothing" '?essential' '?priority(required)' apt "$@" 2>"$T/err" |
	    awk '$1 == "Inst" { print $2 }' | sort
}

# With apt's defaults, as README has it, on a minimal system (debootstrap's minbase) without systemd.
small() {
	would_install >"$T/base"
	if [ ! -s "$T/base" ]; then
		skip "the package brings few others" "apt knows no packages here: $(head -n 1 "$T/err")"
		return
	fi
	would_install "$deb" >"$T/all"
	comm -13 "$T/base" "$T/all" >"$T/out"
	t "on a minimal system gpuhelper brings at most 12 packages with it ($(($(wc -l <"$T/out") - 1)))" [ "$(wc -l <"$T/out")" -ge 2 -a "$(wc -l <"$T/out")" -le 13 ]
	t "  no mail server, compiler or init system among them" sh -c '! grep -E "^(exim4|gcc|systemd$|cron|python3)" "$1"' - "$T/out"
}

looked_into() {
	make -s -C "$here" DESTDIR="$T/made" SETUID=no install >"$T/out" 2>&1
	tree "$T/made" >"$T/made.list"
	deb=$(echo "$T"/one/deb/gpuhelper_*.deb)
	rpm=$(find "$T/one/rpm" -name 'gpuhelper-[0-9]*.rpm')
	dpkg-deb -x "$deb" "$T/deb"
	besides='doc/gpuhelper/(copyright|changelog.Debian.gz|(README|SECURITY).md.gz)|lintian/.*'
	tree "$T/deb" | grep -vE " /usr/share/($besides)\$" >"$T/deb.list"
	diff -u "$T/made.list" "$T/deb.list" >"$T/out"
	t "the .deb has the files of make install, with their modes, and documents" [ $? = 0 ]
	dpkg-deb -c "$deb" | awk '$6 ~ "/etc/gpuhelper/(policy.d|keys)/$" { print $1, $2 }' >"$T/out"
	t "only root may list the .deb's directories of policies and keys" [ "$(sort "$T/out" | uniq -c | xargs)" = "2 drwx--x--x root/root" ]
	diff -r "$T/made/etc" "$T/deb/etc" >"$T/out" && diff -r "$T/made/usr/lib" "$T/deb/usr/lib" >>"$T/out"
	t "the .deb's files have the content of make install's" [ $? = 0 ]
	dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./conffiles | sort >"$T/conffiles"
	sed -n 's|.* /etc/|/etc/|p' "$T/made.list" | sort | diff - "$T/conffiles" >"$T/out"
	t "all files in /etc are conffiles" [ $? = 0 ]
	t "no conffile is an active policy" sh -c "! grep 'policy.d/.*[.]conf\$' '$T/conffiles'"
	sed -e 's|vendor-completions|site-functions|' \
	    -e 's|^0755 root:root \(/usr/libexec/gpuhelper/gpuhelper\)$|4750 root:gpuhelper \1|' "$T/made.list" | sort >"$T/made.rpm"
	format='[%{FILEFLAGS:fflags}| %{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]'
	rpm -qp --qf "$format" "$rpm" >"$T/rpm.all" 2>"$T/err"
	sed -nE 's,^[^|]*\| (.*) /etc/gpuhelper/(policy\.d|keys)$,\1,p' "$T/rpm.all" >"$T/out"
	t "only root may list the .rpm's" [ "$(sort "$T/out" | uniq -c | xargs)" = "2 40711 root:root" ]
	# files without their type; without ghosts and rpm's own additions
	sed -nE '/^[^|]*g|\.build-id|licenses\/|\/(README|SECURITY)\.md$/d; s/^[^|]*\| 10([0-7]{4} .*)/\1/p' "$T/rpm.all" |
	    sed 's/\(man.*\)\.gz$/\1/' | sort | diff -u "$T/made.rpm" - >"$T/out"
	t "the .rpm has the same files, and the helper its setuid bit and group" [ $? = 0 ]
	sed -n 's/^cn| .* //p' "$T/rpm.all" | sort | diff "$T/conffiles" - >"$T/out"
	t "the .rpm has the same configuration files" [ $? = 0 ]
	# where they can be enabled
	(cd "$here/helper/systemd" && grep -l '^\[Install\]' ./*) | sed 's|^./||' | sort >"$T/units"
	sed -n 's/^%global \(services\|timers\) //p' "$here/helper/packaging/gpuhelper.spec" | tr ' ' '\n' | sort |
	    diff "$T/units" - >"$T/out"
	t "the spec names all units" [ $? = 0 ]
	if command -v lintian >/dev/null; then
		lintian --fail-on error,warning "$deb" "$T"/one/deb/gpuhelper-selinux_*.deb >"$T/out" 2>"$T/err"
		t "lintian finds nothing that the overrides do not name" [ $? = 0 ]
	else
		skip "lintian finds nothing but what overrides tell of" "lintian is not installed"
	fi
}

# the next version differs only in its number
next_version() {
	dpkg-deb -R "$deb" "$T/next"
	sed -i 's/^Version: .*/&+1/' "$T/next/DEBIAN/control"
	dpkg-deb -Znone -b "$T/next" "$T/next.deb" >/dev/null
}

if [ "${PACKAGES_STAGE:-}" != inside ]; then
	depended
	built
	[ "$bad" = 0 ] || { echo "1..$n"; exit 1; }
	looked_into
	small
	next_version
	case $here/ in
	/usr/* | /etc/* | /var/*)
		skip "the packages are installed" "this tree lies in a directory that the packages would be installed to"
		echo "1..$n"
		[ $bad = 0 ]
		exit ;;
	esac
	PACKAGES_STAGE=inside N=$n BAD=$bad T=$T DEB=$deb SELINUX=$(echo "$T"/one/deb/gpuhelper-selinux_*.deb) RPM=$rpm VERSION=$version \
	    sh "$here/tests/lib/sandbox.sh" --bare --gpu nvidia-2gpu -- sh "$here/tests/packages.sh"
	exit
fi

# from here on inside the sandbox
n=$N bad=$BAD
W=/usr/bin/gpuhelper-runc H=/usr/libexec/gpuhelper/gpuhelper
export DEBIAN_FRONTEND=noninteractive
dpkg_() { dpkg --no-triggers "$@" >"$T/out" 2>"$T/err" </dev/null; st=$?; }
# Debian's rpm before 4.20 refuses to install without this option, and later ones do not know it
force=
! rpm --help 2>/dev/null | grep -q -e --force-debian || force=--force-debian
# shellcheck disable=SC2086
rpm_() { rpm $force --dbpath "$T/rpmdb" "$@" >"$T/out" 2>"$T/err"; st=$?; }
says() { grep -q -e "$1" "$T/out" "$T/err"; }
package() { dpkg-query -W -f '${db:Status-Status} ${Version}' gpuhelper 2>/dev/null; }
directories() { stat -c '%a:%U:%G' /run/gpuhelper /run/gpuhelper/births /var/log/gpuhelper /var/lib/gpuhelper | xargs; }
helper() { stat -c '%a %U %G' $H; }
inodes() { stat -c %i $H $W; }
lease() { mkdir -p /run/gpuhelper/leases; printf '%s\n' "$1" >/run/gpuhelper/leases/one; }
no_lease() { rm -rf /run/gpuhelper/leases; }
put_links() { mkdir -p /opt/containerd/bin; ln -sf $W /opt/containerd/bin/runc; }
# host: what differs from the machine, by lib/sandbox.sh's overlays, except for what dpkg and useradd write
host() {
	theirs='var/lib/dpkg|var/cache|var/log/dpkg.log|etc/(g?shadow|passwd|group|sub[ug]id)-?|etc/.pwd.lock'
	{
		cd "$work/up" && find . ! -type d -printf '%P %l %m %u %g\n'
		find . -type d | while read -r d; do
			[ "$(stat -c '%a %u %g' "$d")" = "$(stat -c '%a %u %g' "$work/orig/$d" 2>&1)" ] || echo "${d#./}"
		done
		find /run -printf '%p %l %m %u %g\n'
	} | grep -vE "^($theirs|/run/(lock|cdi|demo))\b" | sort
}
administrators() {
	stat -c '%n %a %U %G' /etc/gpuhelper/policy.d /var/log/gpuhelper
	find /etc/gpuhelper /etc/logrotate.d/gpuhelper /var/log/gpuhelper -type f -printf '%p %m %u %g\n' -exec cksum {} ';'
}

echo "# the .deb, installed"
work=$(sed -n 's|.* /usr .*upperdir=\([^,]*\)/up/usr.*|\1|p' /proc/self/mountinfo)
host >"$T/before"
dpkg_ -i "$DEB"
t "dpkg -i" [ "$st" = 0 -a "$(package)" = "installed $VERSION-1" ]
t "the helper is 4750 root:gpuhelper" [ "$(helper)" = "4750 root gpuhelper" ]
t "the users exist" [ -z "$(sh "$here/helper/users.sh" missing)" ]
t "the directories that gpuhelper writes exist" [ "$(directories)" = "711:root:root 700:root:root 750:root:gpuhelper 700:root:root" ]
t "no unit is enabled" [ -z "$(find /etc/systemd -name '*gpuhelper*')" ]
t "gpuhelperctl has this version" [ "$(gpuhelperctl --version)" = "gpuhelperctl $VERSION" ]
DEMO_STAGE=inside DEMO_GPU=nvidia-2gpu sh "$here/tests/demo.sh" --no-deps --tap >"$T/out" 2>"$T/err"
t "the installed package runs granted, refused and plain containers (demo.sh)" [ $? = 0 ]
t "each of demo.sh's checks passes" [ "$(grep -c '^ok' "$T/out")" = "$(sed -n 's/^1\.\.//p' "$T/out")" ]
gpuhelperctl check >"$T/out" 2>"$T/err"
t "gpuhelperctl check" [ $? = 0 ]
gpuhelperctl doctor >"$T/out" 2>"$T/err"
t "gpuhelperctl doctor finds no failure" [ $? = 0 ]
t "the helper answers" says '^ok *helper: answers'

echo "# upgrades"
chgrp root /var/log/gpuhelper
chmod 0700 /var/log/gpuhelper
sed -i 's/rotate 400/rotate 4000/' /etc/logrotate.d/gpuhelper
echo '# mine' >>/etc/gpuhelper/policy.d/10-train.conf.example
administrators >"$T/mine"
put_links
# the form that this version writes
lease "lease $(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' "$here/helper/lease/leasefile.h")"
dpkg_ -i "$DEB"
t "the same version is installed again" [ "$st" = 0 ]
python3 "$here/tests/lib/watch.py" $W $H "$T/seen" &
watcher=$!
while [ ! -e "$T/seen.ready" ]; do sleep 0.05; done
dpkg_ -i "$T/next.deb"
t "the next version is installed while a container holds a lease" [ "$st" = 0 -a "$(package)" = "installed $VERSION-1+1" ]
kill $watcher
wait $watcher
read -r looks files <"$T/seen.looks"
echo "# $looks looks at the wrapper, which was $files files"
t "the watcher saw the new version" [ "$files" -ge 2 -a "$looks" -ge 100 ]
cp "$T/seen" "$T/out"
t "meanwhile the wrapper is never missing or incomplete, and only the complete helper has the setuid bit" [ ! -s "$T/seen" ]
t "the helper is 4750 root:gpuhelper" [ "$(helper)" = "4750 root gpuhelper" ]
t "the engine's link stays" [ -L /opt/containerd/bin/runc ]
administrators | diff "$T/mine" - >"$T/out"
t "the administrator's files and the log's mode stay" [ $? = 0 ]
lease '{"version":3}'
was=$(inodes)
dpkg_ -i "$DEB"
t "installing fails while a container holds another version's lease" [ "$st" != 0 ]
t "the message says so" says 'leases of another version: 1'
t "nothing was changed" [ "$(inodes)" = "$was" -a "$(package)" = "installed $VERSION-1+1" ]
no_lease
dpkg-statoverride --remove $H
dpkg-statoverride --update --add root root 0755 $H
dpkg_ -i "$DEB"
t "an override of the administrator's stays" [ "$st" = 0 -a "$(helper)" = "755 root root" ]
dpkg-statoverride --remove $H
dpkg_ -i "$T/next.deb"
t "without an override the helper has its setuid bit again" [ "$st" = 0 -a "$(helper)" = "4750 root gpuhelper" ]

echo "# gpuhelper-selinux, with a semodule that writes down what it is told"
cat >/usr/local/sbin/semodule <<'END'
#!/bin/sh
echo "$*" >>/run/semodule
[ "$*" != -l ] || echo container
END
chmod 0755 /usr/local/sbin/semodule
modules=/usr/share/selinux/packages/gpuhelper
dpkg_ --force-depends -i "$SELINUX"
t "dpkg -i" [ "$st" = 0 -a -s $modules/gpuhelper.pp -a -s $modules/nvidia-container.pp ]
echo "-l
-X 300 -i $modules/gpuhelper.pp -X 200 -i $modules/nvidia-container.pp" | cmp - /run/semodule >"$T/out" 2>&1
t "loads the modules" [ $? = 0 ]
rm /run/semodule
dpkg_ -P gpuhelper-selinux
t "dpkg -P" [ "$st" = 0 -a ! -e $modules ]
printf '%s\n' '-X 300 -r gpuhelper' '-X 200 -r nvidia-container' | cmp - /run/semodule >"$T/out" 2>&1
t "removes the modules again" [ $? = 0 ]
rm /run/semodule /usr/local/sbin/semodule

echo "# removal"
xargs systemctl -q enable <"$T/units" 2>/dev/null
t "(units are enabled)" [ "$(find /etc/systemd -path '*.wants/gpuhelper*' | wc -l)" = "$(wc -l <"$T/units")" ]
# a lease that no helper can end
lease '?'
dpkg_ -r gpuhelper
t "removal fails while a container holds a lease" [ "$st" != 0 ]
t "the message says so" says 'leases that have not ended: 1 (gpuhelperctl status)'
t "the link is still there" [ -L /opt/containerd/bin/runc ]
t "the helper was not removed" [ "$(helper) $(package)" = "4750 root gpuhelper installed $VERSION-1+1" ]
no_lease
dpkg_ -r gpuhelper
t "the link is removed then, and the message says so" says 'removed /opt/containerd/bin/runc'
t "without leases removal succeeds" [ "$st" = 0 -a "$(package)" = "config-files $VERSION-1+1" ]
find /usr /run /etc/systemd ! -type d -name '*gpuhelper*' >"$T/out"
t "no file is left outside of /etc/gpuhelper, and no unit is enabled" [ ! -s "$T/out" -a ! -e /run/gpuhelper ]
administrators | diff "$T/mine" - >"$T/out"
t "the administrator's files and the audit log stay" [ $? = 0 -a -s /var/log/gpuhelper/audit.jsonl ]
lease '?'
GPUHELPER_FORCE=yes
export GPUHELPER_FORCE
dpkg_ -i "$DEB"
t "installing fails beside another version's lease" [ "$st" != 0 ]
no_lease
dpkg_ -i "$DEB"
t "the package can be installed again" [ "$st" = 0 -a "$(helper)" = "4750 root gpuhelper" ]
lease '?'
dpkg_ -P gpuhelper
t "purge, forced while a container holds a lease" [ "$st" = 0 -a -z "$(package)" ]
unset GPUHELPER_FORCE
t "no override is left" [ -z "$(dpkg-statoverride --list $H)" ]
rmdir /opt/containerd/bin /opt/containerd 2>/dev/null
rm -rf /srv/datasets /srv/outputs
host | diff "$T/before" - >"$T/out"
t "the host is as before, except for the users" [ $? = 0 ]

echo "# the .rpm"
for u in gpuhelper-look gpuhelper-engine gpuhelper-read gpuhelper-judge; do userdel $u; groupdel $u 2>/dev/null; done
groupdel gpuhelper
lease '{"version":3}'
rpm_ -i --nodeps "$RPM"
t "rpm -i fails while a container holds another version's lease" [ "$st" != 0 -a ! -e $H ]
no_lease
rpm_ -i --nodeps "$RPM"
t "rpm -i" [ "$st" = 0 ]
t "the helper is 4750 root:gpuhelper" [ "$(helper)" = "4750 root gpuhelper" ]
t "the users exist" [ -z "$(sh "$here/helper/users.sh" missing)" ]
t "the directories that gpuhelper writes exist" [ "$(directories)" = "711:root:root 700:root:root 750:root:gpuhelper 700:root:root" ]
rpm_ -V --nodeps gpuhelper
t "rpm -V finds nothing" [ "$st" = 0 ]
put_links
chmod 0700 /var/log/gpuhelper
example=/etc/gpuhelper/policy.d/10-train.conf.example
echo '# mine' >>$example
echo '{}' >/var/log/gpuhelper/audit.jsonl
rpm_ -U --nodeps --force "$RPM"
t "rpm -U keeps the link" [ "$st" = 0 -a -L /opt/containerd/bin/runc ]
t "rpm -U keeps the administrator's changes" [ "$(stat -c %a /var/log/gpuhelper) $(tail -n 1 $example)" = '700 # mine' ]
lease '?'
rpm_ -e gpuhelper
t "rpm -e fails while a container holds a lease" [ "$st" != 0 -a "$(helper)" = "4750 root gpuhelper" ]
no_lease
rpm_ -e gpuhelper
t "without leases rpm -e succeeds" [ "$st" = 0 ]
rm -rf /opt/containerd "$T/rpmdb"
rm -f $example.rpmsave
t "the log stays" [ -s /var/log/gpuhelper/audit.jsonl ]
# without directories of Fedora's package «filesystem»
rm -r /var/log/gpuhelper
rmdir /etc/gpuhelper/policy.d /etc/gpuhelper /usr/share/licenses /usr/share/zsh/site-functions 2>/dev/null
host | diff "$T/before" - >"$T/out"
t "nothing else stays, except for the users and changed files" [ $? = 0 ]
echo "1..$n"
[ $bad = 0 ]
