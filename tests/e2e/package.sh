#!/bin/bash
# The Debian package: its files, and that dpkg installs, upgrades, removes and purges it. It is installed into a layer
# above this system, which only the processes of this test see.
# ctest: nosan
. "$(dirname "$0")/../support/e2e.bash"
build=$(dirname "$LOCKSTEP_BIN")
examples=$(realpath "$here/../../examples")
mkdir -p "$tmp/out" "$tmp/above"

# closed COMMAND...: as under umask 077, and where this container may mount, with examples of a checkout made under it
cp -r "$examples" "$tmp/examples"
chmod -R go= "$tmp/examples"
closed() {
    local own=(unshare -m sh -euc 'mount --bind "$1" "$2"; shift 2; "$@"' sh "$tmp/examples" "$examples")
    "${own[@]}" true 2>/dev/null || own=()
    (umask 077 && "${own[@]}" "$@")
}

case_begin 'the package is made'
closed cpack --config "$build/CPackConfig.cmake" -B "$tmp/out" >"$tmp/cpack.log" 2>&1 ||
    { cat "$tmp/cpack.log"; failed=1; }
package=$(find "$tmp/out" -maxdepth 1 -name 'lockstep_*.deb')
[ -f "$package" ] || { echo "there is no package"; exit 1; }
needs=$(dpkg-deb -f "$package" Depends | grep -oE 'libpq5|librdkafka1|libmicrohttpd[0-9]+' | tr -d 0-9 | sort | xargs)
expect 'libraries among its dependencies' "$needs" \
    'libmicrohttpd libpq librdkafka'
expect 'its conffile' "$(dpkg-deb --ctrl-tarfile "$package" | tar -xO ./conffiles)" /etc/lockstep/lockstep.conf
expect 'directories that a login may not enter' \
    "$(dpkg-deb --fsys-tarfile "$package" | tar -tv | awk '$1 ~ /^d/ && $1 != "drwxr-xr-x" {print $6}' | xargs)" ''
expect 'files that a login may not read' \
    "$(dpkg-deb --fsys-tarfile "$package" | tar -tv | awk '$1 ~ /^-/ && $1 !~ /^.......r/ {print $6}' | xargs)" \
    ./etc/lockstep/lockstep.conf
expect 'files of others' "$(dpkg-deb --fsys-tarfile "$package" | tar -tv | awk '$2 != "root/root"')" ''
expect 'top folders' "$(dpkg-deb --fsys-tarfile "$package" | tar -t | cut -d/ -f2 | sort -u | xargs)" 'etc usr'

case_begin 'each unit starts a command that the program has, with the configuration that the package brings'
dpkg-deb -x "$package" "$tmp/root"
expect 'units' "$(ls "$tmp/root/usr/lib/systemd/system" | sed s/lockstep-// | xargs)" \
    'console.service console.socket executor@.service monitor.service scheduler.service'
for unit in "$tmp"/root/usr/lib/systemd/system/*.service; do
    starts=$(sed -n 's/^ExecStart=//p' "$unit")
    read -r program noun verb option conffile _ <<<"$starts"
    "$tmp/root$program" help "$noun" "$verb" >/dev/null || { echo "${unit##*/}: $starts"; failed=1; }
    expect "${unit##*/}" "$option $conffile" '--config /etc/lockstep/lockstep.conf'
    page=$(sed -n 's/^Documentation=file://p' "$unit")
    [ -f "$tmp/root$page" ] || wrong "${unit##*/}: there is no $page"
    # One on the same host is there before it, and ends after it.
    grep -q '^After=.*\bpostgresql\.service\b' "$unit" || wrong "${unit##*/} is not ordered behind PostgreSQL"
done

case_begin 'the links of its pages lead to files of the package, and its scripts can be run'
doc=$tmp/root/usr/share/doc/lockstep
install -D "$here/../unit/pages.py" "$doc/tests/unit/pages.py"
python3 "$doc/tests/unit/pages.py" || failed=1
rm -r "$doc/tests/unit"
expect 'programs' "$(cd "$doc/examples" && find . -type f -perm -a+x | sort | xargs)" \
    "$(cd "$examples" && find . -type f -perm -u+x | sort | xargs)"

case_begin 'an installation leaves the build tree as it is, so that the one of root is no obstacle for a build after it'
touch "$tmp/before"
cmake --install "$build" --prefix "$tmp/installed" >"$tmp/install.log" 2>&1 || { cat "$tmp/install.log"; failed=1; }
[ -f "$tmp/installed/share/man/man1/lockstep.1" ] || wrong 'no manual page is installed'
# CMake itself writes the list of the installed files; ./dev package removes it.
expect 'written' "$(find "$build" -mindepth 1 -maxdepth 3 -newer "$tmp/before" -not -path "$build/servers*" \
    -not -path "$build/Testing*" -not -name install_manifest.txt | sort)" ''

case_begin 'dpkg installs, upgrades, removes and purges it'
cp "$package" "$tmp/lockstep.deb"
cat >"$tmp/inside" <<'END'
set -eu
said() { printf '%s\n' "$*"; }
mount -t proc proc /proc
# The triggers are other packages' affair: an index of all manual pages takes longer than the rest.
dpkg --no-triggers -i "$1" >/dev/null
said "$(stat -c '%A %U %G' /etc/lockstep/lockstep.conf)"
said "$(getent passwd lockstep | cut -d: -f6,7)"
said "$(runuser -u lockstep -- lockstep config check --config /etc/lockstep/lockstep.conf 2>&1)"
echo '# of the administrator' >>/etc/lockstep/lockstep.conf
dpkg --no-triggers -i "$1" >/dev/null
said "$(tail -n 1 /etc/lockstep/lockstep.conf)"
dpkg --no-triggers -r lockstep >/dev/null
said "$(ls /usr/bin/lockstep /etc/lockstep/lockstep.conf 2>/dev/null)"
links=/etc/systemd/system/multi-user.target.wants
mkdir -p "$links"
ln -s /nowhere "$links/lockstep-executor@orders.service"
ln -s /nowhere "$links/lockstep-monitor.service"
ln -s /nowhere "$links/lockstep-report.service" # the administrator's
dpkg --no-triggers -P lockstep >/dev/null
said "$(cd "$links" && ls -d lockstep-*)"
said "$(ls -d /etc/lockstep /usr/bin/lockstep /usr/share/doc/lockstep 2>/dev/null)"
END
# above COMMAND...: runs it in the layer. A file system of its own carries the layer, because one cannot lie on another.
above() {
    unshare -m bash -eu -c '
        mount -t tmpfs tmpfs "$1"
        mkdir "$1/upper" "$1/work" "$1/all"
        mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/all"
        cp "$2" "$3" "$1/all/root/"
        chroot "$1/all" "${@:4}"' above "$tmp/above" "$tmp/lockstep.deb" "$tmp/inside" "$@"
}
if ! above true 2>"$tmp/refused"; then
    echo "# not installed: a container without the right to mount: $(tail -n 1 "$tmp/refused")"
    cases_end
    exit $failed
fi
expect 'what is seen of it' "$(above bash /root/inside /root/lockstep.deb 2>&1)" "-rw-r----- root lockstep
/var/lib/lockstep:/usr/sbin/nologin
lockstep: /etc/lockstep/lockstep.conf: the configuration is right
# of the administrator
/etc/lockstep/lockstep.conf
lockstep-report.service"
cases_end
exit $failed
