#!/bin/sh
# Tries what is in dist/ as somebody would who has a bare Debian: no Go, no Node, no compiler. Needs root, debootstrap and a mirror of
# Debian; BASE=FOLDER takes a bare system that is there already. Each package is installed, the commands of the README are run as
# printed, and after removing it nothing is left but what the user made. OLD=FILE.deb is upgraded from, with a gateway and a bridge
# running. Nothing outside of the bare system is changed. The .rpm is unpacked into the same bare Debian by an rpm outside of it, if there is
# one: this shows what it holds, runs and leaves, and nothing of how dnf or zypper resolve it.
set -eu
dist=$(cd "$(dirname "$0")/../../dist" && pwd)
deb=$(ls "$dist"/collie_*_amd64.deb)
work=$(mktemp -d)
root=$work/root
# Whatever of ada's still runs when this ends is ended by its number.
end_all() { for link in /proc/[0-9]*/root; do [ "$(readlink "$link" 2>/dev/null)" != "$root" ] || { pid=${link#/proc/}; kill -9 "${pid%/root}" 2>/dev/null || true; }; done; }
trap 'end_all; umount "$root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
if [ -n "${BASE:-}" ]; then cp -a "$BASE" "$root"; else debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }; fi
mount -t proc proc "$root/proc"
in_root() { chroot "$root" /usr/bin/env -i HOME=/home/ada USER=ada LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "$@"; }
as_ada() { in_root setpriv --reuid=1000 --regid=1000 --clear-groups "$@"; }
fail() { echo "release-check: $*" >&2; exit 1; }
in_root useradd --uid 1000 --create-home ada
for tool in go node npx gcc; do ! in_root which "$tool" >/dev/null 2>&1 || fail "the bare system has $tool"; done
everything() { (cd "$root" && find . -xdev -path ./proc -prune -o -path ./var/lib/dpkg -prune -o -path ./var/lib/rpm -prune -o -path ./var/log -prune -o -path ./var/cache -prune -o -path ./tmp -prune -o -print | sort); }

# try NAME uses the installed program; the commands are those that README.md prints for a start.
try() {
	as_ada collie version | grep -q . || fail "$1: no version"
	as_ada collie vault import --help >/dev/null || fail "$1: no help"
	as_ada collie fs tree / | grep -q . || fail "$1: collie fs tree / shows nothing"
	as_ada collie search fulltext welcome >/dev/null || fail "$1: collie search fulltext welcome"
	as_ada collie mcp add files --no-warm -- npx -y @modelcontextprotocol/server-filesystem /home/ada 2>/dev/null | grep -q added || fail "$1: mcp add"
	as_ada collie connect claude-code --dry-run >/dev/null 2>&1 || true # the client is not here
	as_ada sh -c 'cd; collie serve --http 127.0.0.1:0 2>serve.log & echo $! >pid; i=0; until grep -q ready: serve.log; do i=$((i+1)); [ $i -lt 300 ] || exit 1; sleep 0.1; done' || fail "$1: serve did not start"
	as_ada collie tools >/dev/null 2>&1 || fail "$1: collie tools"
	as_ada sh -c 'cd; kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.1; done; rm pid serve.log'
	as_ada collie mcp remove files >/dev/null
}

# only_ada fails if something but ada's own files is there that was not before.
only_ada() {
	everything >"$work/after"
	left=$(comm -13 "$work/before" "$work/after" | grep -v '^./home/ada/' | grep -v '^./etc/\.pwd\.lock' || true)
	[ -z "$left" ] || fail "$1 leaves: $left"
}

echo "== files"
(cd "$dist" && sha256sum -c --quiet checksums.txt) || fail "a file is not what checksums.txt says"
for file in "$dist"/*; do
	name=$(basename "$file")
	[ "$name" = checksums.txt ] || grep -q "  $name\$" "$dist/checksums.txt" || fail "checksums.txt does not name $name"
done
sum_of() { sed -n "s/  $1\$//p" "$dist/checksums.txt"; }
for archive in "$dist"/collie_*.tar.gz "$dist"/collie_*.zip; do
	[ -e "$archive" ] || continue # no archive of this kind was built
	name=$(basename "$archive") program=collie from=$dist/collie.rb
	case $name in
	*.zip) program=collie.exe from=$dist/collie.json list=$(python3 -m zipfile -l "$archive" 2>/dev/null | sed '1d; s/ .*//') || list= ;;
	*) list=$(tar -tzf "$archive") ;;
	esac
	if [ -z "$list" ]; then echo "   no python3 here: what is in $name was not looked at"; else
		for inside in "$program" README.md README.zh-CN.md CHANGELOG.md LICENSE LICENSES.txt completions/collie.bash completions/_collie completions/collie.fish completions/collie.ps1 man/collie.1; do
			echo "$list" | grep -qx "$inside" || fail "$name has no $inside"
		done
	fi
	grep -q "/$name\"" "$from" && grep -q "\"$(sum_of "$name")\"" "$from" || fail "$(basename "$from") does not have $name with its sum"
	[ -s "${archive%%.tar.gz}.cdx.json" ] || [ -s "${archive%.zip}.cdx.json" ] || fail "$name has no bill of materials"
done

everything >"$work/before"
echo "== $(basename "$deb")"
cp "$deb" "$root/tmp/collie.deb"
in_root dpkg -i /tmp/collie.deb >/dev/null
[ -e "$root/usr/share/man/man1/collie-mcp-add.1" ] || [ -e "$root/usr/share/man/man1/collie-mcp-add.1.gz" ] || echo "   (this system leaves manual pages out)"
[ -f "$root/usr/lib/systemd/user/collie.service" ] || fail "no user service"
try deb
in_root dpkg -r collie >/dev/null
in_root dpkg -P collie >/dev/null 2>&1 || true
only_ada deb
[ -e "$root/home/ada/.local/share/collie/vault.db" ] || fail "the user's notes are gone"

if command -v rpm >/dev/null; then
	package=$(ls "$dist"/collie-*.x86_64.rpm)
	echo "== $(basename "$package")"
	in_rpm() { rpm --root "$root" --dbpath /var/lib/rpm --nodeps "$@" >"$work/log" 2>&1 || fail "rpm $*: $(cat "$work/log")"; }
	in_rpm -i "$package"
	in_rpm -V collie # the files are those of the package
	[ -f "$root/usr/lib/systemd/user/collie.service" ] || fail "rpm: no user service"
	try rpm
	in_rpm -e collie
	only_ada rpm
else
	echo "== no rpm here: the .rpm was not tried"
fi

echo "== install.sh"
cp "$dist"/install.sh "$dist"/checksums.txt "$dist"/collie_*_linux_amd64.tar.gz "$root/tmp/"
as_ada sh /tmp/install.sh --from /tmp | grep -q installed || fail "install.sh"
as_ada /home/ada/.local/bin/collie fs tree / | grep -q . || fail "install.sh: collie does not run"
archive=$(ls "$root"/tmp/collie_*_linux_amd64.tar.gz)
printf x >>"$archive"
! as_ada sh /tmp/install.sh --from /tmp 2>/dev/null || fail "install.sh took an archive with another sum"
as_ada sh /tmp/install.sh --uninstall >/dev/null
[ ! -e "$root/home/ada/.local/bin/collie" ] || fail "install.sh --uninstall leaves the program"
only_ada install.sh

if [ -n "${OLD:-}" ]; then
	echo "== upgrade from $(basename "$OLD")"
	cp "$OLD" "$root/tmp/old.deb"
	in_root dpkg -i /tmp/old.deb >/dev/null
	old=$(as_ada collie version | head -n 1)
	as_ada sh -c 'cd; collie serve --http 127.0.0.1:0 2>serve.log & echo $! >pid; i=0; until grep -q ready: serve.log; do i=$((i+1)); [ $i -lt 300 ] || exit 1; sleep 0.1; done'
	# A bridge: its client lists tools before and after the gateway is another one.
	mkfifo -m 666 "$root/home/ada/say"
	as_ada sh -c 'cd; collie stdio <say >heard 2>bridge.log & echo $! >bridge'
	exec 9>"$root/home/ada/say"
	heard() { i=0; until grep -qs "\"id\":$1[,}]" "$root/home/ada/heard"; do i=$((i+1)); [ $i -lt 300 ] || fail "upgrade: no answer to request $1: $(tail -n 3 "$root/home/ada/bridge.log")"; sleep 0.1; done; }
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}' >&9
	heard 1
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&9
	echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' >&9
	heard 2
	in_root dpkg -i /tmp/collie.deb >/dev/null
	new=$(as_ada collie version | head -n 1)
	[ "$old" != "$new" ] || fail "upgrade: both are $old"
	as_ada collie mcp list 2>&1 | grep -qi 'version' || fail "upgrade: the old gateway is not named"
	as_ada collie service restart >"$work/restarted" 2>&1 || fail "upgrade: $(cat "$work/restarted")"
	echo '{"jsonrpc":"2.0","id":3,"method":"tools/list"}' >&9
	heard 3
	exec 9>&-
	as_ada collie service status --json 2>/dev/null | sed -n 's/.*"gatewayPid": *\([0-9]*\).*/\1/p' | while read -r pid; do as_ada sh -c "kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done"; done
	in_root dpkg -r collie >/dev/null
	rm -f "$root"/home/ada/say "$root"/home/ada/heard
	only_ada upgrade
	echo "   $old, then $new: $(cat "$work/restarted")"
fi
echo "release-check: ${package:+$(basename "$package"), }$(basename "$deb") and install.sh are fine"
