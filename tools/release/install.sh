#!/bin/sh
# Installs Collie @VERSION@ into ~/.local, or PREFIX, after it has checked the sum of what it fetched.
#   sh install.sh                    from where this release lies
#   sh install.sh --from URL|DIR     from another place with the same files
#   sh install.sh --uninstall        removes what it installed; your settings and notes stay
set -eu
version='@VERSION@' from='@URL@' prefix=${PREFIX:-$HOME/.local}
while [ $# -gt 0 ]; do
	case $1 in
	--from) from=${2:?--from needs a URL or a folder}; shift 2 ;;
	--uninstall)
		rm -f "$prefix/bin/collie" "$prefix/share/bash-completion/completions/collie" "$prefix/share/zsh/site-functions/_collie" \
			"$prefix/share/fish/vendor_completions.d/collie.fish" "$prefix"/share/man/man1/collie.1 "$prefix"/share/man/man1/collie-*.1
		echo "removed $prefix/bin/collie"
		exit 0 ;;
	*) echo "install.sh: unknown option $1; expected --from URL|DIR or --uninstall" >&2; exit 2 ;;
	esac
done
[ -n "$from" ] || { echo "install.sh: where from? give --from URL or --from DIR" >&2; exit 2; }
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) echo "install.sh: no archive for $(uname -s); on Windows use Scoop or the .zip" >&2; exit 1 ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "install.sh: no archive for $(uname -m)" >&2; exit 1 ;;
esac
archive=collie_${version}_${os}_${arch}.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
	case $from in
	http://* | https://*)
		if command -v curl >/dev/null; then curl -fsSL -o "$work/$1" "$from/$1"
		elif command -v wget >/dev/null; then wget -q -O "$work/$1" "$from/$1"
		else echo "install.sh: curl or wget is needed" >&2; exit 1; fi ;;
	*) cp "$from/$1" "$work/$1" ;;
	esac
}
fetch checksums.txt
fetch "$archive"
cd "$work"
want=$(awk -v f="$archive" '$2 == f {print $1}' checksums.txt)
if command -v sha256sum >/dev/null; then got=$(sha256sum "$archive" | cut -d' ' -f1); else got=$(shasum -a 256 "$archive" | cut -d' ' -f1); fi
if [ -z "$want" ] || [ "$want" != "$got" ]; then
	echo "install.sh: the sum of $archive is $got, expected ${want:-one in checksums.txt}; nothing was installed" >&2
	exit 1
fi
tar -xzf "$archive"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
mv collie "$prefix/bin/.collie.new" && mv -f "$prefix/bin/.collie.new" "$prefix/bin/collie" # a gateway that runs keeps its file
cp man/*.1 "$prefix/share/man/man1/"
cp completions/collie.bash "$prefix/share/bash-completion/completions/collie"
cp completions/_collie "$prefix/share/zsh/site-functions/_collie"
cp completions/collie.fish "$prefix/share/fish/vendor_completions.d/collie.fish"
echo "installed $("$prefix/bin/collie" version | head -n 1) to $prefix/bin/collie"
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "add $prefix/bin to PATH" ;; esac
