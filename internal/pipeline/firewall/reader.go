package firewall

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/lazyregexp"
)

// This file recognizes commands that only read and so need no question, and judges the files that they read.

// readers are commands that only read, one per line: the program with its first words, the kind of its operands, and the
// options that do more than read. The kinds of operands are
//
//	files     files that are read
//	first     a pattern or a program text, then files
//	one       one file
//	data      text that is not interpreted
//	fixed     names of packages, which no substitution may make up since servers may be asked for them, without versions
//	npm       names of packages of the usual registry, with options that only select and format
//	none      no operands
//	git       revisions, paths, and REVISION:PATH; options that write or run programs are excluded
//	versions  nothing but the option or word that shows the version
//	list      the word list
//	kubectl   resources except secrets, with options that only select and format
//	ps        options without the one that shows environments
//
// One-letter options are recognized within a group too, long ones also when abbreviated.
const readers = `
ls files
dir files
cat files
tac files
head files
tail files
wc files --files0-from
nl files
rev files
fold files
expand files
unexpand files
fmt files
column files
cut files
tr data
paste files
join files
comm files
cmp files
diff files
sort files -o -T --output --compress-program --temporary-directory --files0-from
uniq one
shuf files -o --output
tsort files
md5sum files
md5 files
sha1sum files
sha224sum files
sha256sum files
sha512sum files
shasum files
b2sum files
cksum files
sum files
od files
hexdump files
xxd one -r
strings files
file files -C -m --compile
stat files
du files --files0-from
df files
tree files -o -R
realpath files
readlink files
basename data
dirname data
grep first -f --file
egrep first -f --file
fgrep first -f --file
zgrep first -f --file
rg first -f --file --pre --hostname-bin --search-zip -z
ag first --pager
fd first -x -X --exec --exec-batch
jq first -f --from-file -L --rawfile --slurpfile
zcat files
pwd none
true data
false data
: data
echo data
printf data -v
test files
[ files
seq data
sleep data
expr data
factor data
date data -s --set -f --file -r
cal data
whoami none
id data
groups data
uname none
hostname none -F --file -b -d
arch none
nproc none
uptime none
free none
ps ps
pgrep data
who none
w none
users none
last data -f --file
lsb_release none
lscpu none
lsblk none
lsusb none
lspci none
tty none
locale data
which data
whereis data
type data
command -v data
command -V data
cd files
pushd files
popd none
dirs none
wait data -p
exit data
return data
shift data
break data
continue data
getconf data
tput data
sw_vers none
git status files
git log git
git diff git
git show git
git blame git
git shortlog git
git describe git
git rev-parse git
git rev-list git
git ls-files git
git ls-tree git
git cat-file git --textconv --filters
git merge-base git
git name-rev git
git cherry git
git for-each-ref git
git count-objects git
git whatchanged git
git diff-tree git
git show-ref git
git grep git -O --open-files-in-pager -f
git branch none -d -D -m -M -c -C -f -u --delete --move --copy --force --edit-description --set-upstream-to --unset-upstream
git tag -l data -a -s -u -d -f -m -F -e --annotate --sign --delete --force --edit
git tag --list data -a -s -u -d -f -m -F -e --annotate --sign --delete --force --edit
git tag none -a -s -u -d -f -m -F -e --annotate --sign --delete --force --edit
git remote none -a --add
git stash list
git worktree list
git reflog none
git version none
go version none
go doc fixed -http
go list fixed -toolexec -exec -overlay -modfile -mod -export -compiled -test -u -versions -retracted
go env data -w -u -json
npm ls npm
npm list npm
npm outdated npm
npm view npm
pip list none --python --log --proxy --index-url --extra-index-url --find-links --index -i -f
pip show data --python --log --proxy
pip freeze none --python --log --proxy --find-links -f -r --requirement
pip3 list none --python --log --proxy --index-url --extra-index-url --find-links --index -i -f
pip3 show data --python --log --proxy
pip3 freeze none --python --log --proxy --find-links -f -r --requirement
cargo tree data --config
docker ps data --config -H --host
docker images data --config -H --host
docker version data --config -H --host
kubectl version kubectl
kubectl get kubectl
systemctl status data -H -M --host --machine --root --image
systemctl is-active data -H -M --host --machine --root --image
systemctl is-enabled data -H -M --host --machine --root --image
systemctl list-units data -H -M --host --machine --root --image
journalctl data --vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var --setup-keys -D -o -M --directory --file --root --image --machine
awk versions
node versions
python versions
python3 versions
ruby versions
java versions
javac versions
rustc versions
gcc versions
g++ versions
clang versions
make versions
cmake versions
docker versions
npm versions
pnpm versions
yarn versions
bun versions
deno versions
cargo versions
php versions
perl versions
psql versions
sqlite3 versions
git versions
terraform versions
helm versions
`

// readerRule is one line of readers.
type readerRule struct {
	words    []string
	operands string
	not      []string
}

// readerRules returns the parsed lines of readers by program.
var readerRules = sync.OnceValue(func() map[string][]readerRule {
	rules := map[string][]readerRule{}
	for line := range strings.Lines(readers) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		var r readerRule
		for i, word := range slices.Backward(words) {
			if strings.HasPrefix(word, "-") {
				r.not = append(r.not, word)
				continue
			}
			r.words, r.operands = words[:i], word
			break
		}
		rules[words[0]] = append(rules[words[0]], r)
	}
	return rules
})

// onlyReads reports whether a command only reads. If so, it also judges the files that are read.
func (j *judgement) onlyReads(words []word) bool {
	name := programName(words)
	if name == "git" {
		words = withoutGlobals(words)
	}
	for _, rule := range readerRules()[name] {
		n := len(rule.words)
		if len(words) < n {
			continue
		}
		fits := true
		for i := 1; i < n; i++ {
			fits = fits && words[i].fixed && words[i].text == rule.words[i]
		}
		if fits && j.covers(&rule, words[n:]) {
			return true
		}
	}
	return false
}

// withoutGlobals removes harmless options of git that stand before its command.
func withoutGlobals(words []word) []word {
	rest := words[1:]
	for len(rest) > 0 && rest[0].fixed {
		switch rest[0].text {
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs":
			rest = rest[1:]
			continue
		}
		break
	}
	return append(words[:1:1], rest...)
}

// covers reports whether a rule covers the arguments of a command.
func (j *judgement) covers(rule *readerRule, args []word) bool {
	switch rule.operands {
	case "versions":
		return len(args) == 1 && args[0].fixed && (args[0].text == "--version" || args[0].text == "-v" || args[0].text == "-V" || args[0].text == "version" || args[0].text == "-version")
	case "list":
		return len(args) == 1 && args[0].fixed && args[0].text == "list"
	case "kubectl":
		return !slices.ContainsFunc(args, func(a word) bool {
			if strings.HasPrefix(a.text, "-") {
				return !a.fixed || !kubectlOption(a.text)
			}
			return !a.fixed || strings.Contains(strings.ToLower(a.text), "secret") || strings.Contains(a.text, "all") || strings.Contains(a.text, "file")
		})
	case "npm":
		return !slices.ContainsFunc(args, func(a word) bool {
			if strings.HasPrefix(a.text, "-") {
				return !a.fixed || !npmOption(a.text)
			}
			return !a.fixed || strings.Contains(a.text, ":") || strings.HasPrefix(a.text, ".") || strings.HasPrefix(a.text, "/") || strings.HasPrefix(a.text, "~")
		})
	case "ps":
		for _, a := range args {
			if !a.fixed || !strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "e") {
				return false
			}
		}
		return true
	}
	operands, ended := 0, false
	for _, a := range args {
		if !ended && rule.mayGetOption(a, operands) {
			return false
		}
		if !ended && strings.HasPrefix(a.text, "-") && len(a.text) > 1 {
			if a.text == "--" {
				ended = true
				continue
			}
			if !a.fixed && rule.operands != "data" || forbidsOption(rule, a.text) {
				return false
			}
			j.judgeOperand(a, false)
			continue
		}
		if operands++; !j.coversOperand(rule, a, operands) {
			return false
		}
	}
	return true
}

// readingOptions are excluded options with which a program does no more than read another file.
const readingOptions = " -f --file --files0-from --from-file -L --rawfile --slurpfile "

// mayGetOption reports whether what the shell makes of a word, after so many operands, may be an option that the rule
// excludes.
func (r *readerRule) mayGetOption(a word, operands int) bool {
	if r.words[0] == "printf" && operands > 0 { // its options stand before the format
		return false
	}
	return a.option && len(r.not) > 0 ||
		a.starts && slices.ContainsFunc(r.not, func(not string) bool { return !strings.Contains(readingOptions, " "+not+" ") })
}

// kubectlOption reports whether an option only selects what is shown or formats it. Others may name a server, or a file
// that names a program.
func kubectlOption(option string) bool {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "-n", "--namespace", "-o", "--output", "-l", "--selector", "-A", "--all-namespaces", "--show-labels", "--no-headers", "--sort-by", "--field-selector", "--client", "-owide", "-oyaml", "-ojson", "-oname":
		return !strings.Contains(value, "file")
	}
	return false
}

// npmOption reports whether an option only selects what is shown or formats it. Nearly all others may name a server, or
// a file with settings.
func npmOption(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "-a", "--all", "-g", "--global", "-l", "--long", "-p", "--parseable", "--json", "--depth", "--omit", "--include", "--prod", "--production", "--dev", "--link":
		return true
	}
	return false
}

// coversOperand reports whether a rule covers operand number n, and judges the file that it names.
func (j *judgement) coversOperand(rule *readerRule, a word, n int) bool {
	switch rule.operands {
	case "none":
		return false
	case "data":
		return true
	case "fixed":
		return a.fixed && !strings.Contains(a.text, "@")
	case "one":
		if n > 1 {
			return false
		}
	case "first":
		if n == 1 {
			return a.fixed && (rule.words[0] != "jq" || harmlessJQ(a.text))
		}
	case "git":
		if !a.fixed {
			return false
		}
		if _, file, ok := strings.Cut(a.text, ":"); ok { // HEAD:file
			a.text = file
		}
	}
	j.judgeRead(a)
	return true
}

// jqModules finds the words with which a program of jq reads further files. They are harmless as names, as in .include.
var jqModules = lazyregexp.New(`(?:^|[^\w."$])(?:import|include|modulemeta)\b`)

// harmlessJQ reports whether a program of jq looks at nothing but the files that its arguments name.
func harmlessJQ(program string) bool {
	return !strings.Contains(program, "env") && !strings.Contains(program, "ENV") && !strings.Contains(program, "input") && !jqModules.MatchString(program)
}

// forbidsOption reports whether a rule does not cover an option.
func forbidsOption(rule *readerRule, option string) bool {
	name, _, _ := strings.Cut(option, "=")
	if rule.operands == "git" {
		for _, not := range []string{"--output", "--ext-diff", "--textconv", "--exec", "--upload-pack", "--no-index", "--contents"} {
			if len(name) > 3 && strings.HasPrefix(not, name) || strings.HasPrefix(name, not) {
				return true
			}
		}
	}
	for _, not := range rule.not {
		switch {
		case strings.HasPrefix(not, "--"):
			if len(name) > 2 && strings.HasPrefix(not, name) {
				return true
			}
		case len(not) == 2:
			if !strings.HasPrefix(name, "--") && strings.Contains(name[1:], not[1:]) {
				return true
			}
		default:
			if strings.TrimPrefix(name, "-") == not || name == not || "-"+strings.TrimLeft(name, "-") == not {
				return true
			}
		}
	}
	return false
}

// judgeRead judges a file that a command reads. It asks about a pattern that may match a hidden file.
func (j *judgement) judgeRead(w word) {
	switch {
	case !w.fixed:
		j.report(Ask, "command.dynamic", "it is not known which file it uses")
		return
	case w.globs && (strings.ContainsAny(w.text, "?[") || strings.HasPrefix(w.text, ".") && !strings.HasPrefix(w.text, "./") || strings.Contains(w.text, "/.") ||
		strings.HasPrefix(w.text, "/") || strings.HasPrefix(w.text, "~")):
		j.report(Ask, "command.dynamic", "it is not known which files "+w.text+" stands for")
	case w.globs && j.matchesSecrets(w):
		j.report(Ask, "command.dynamic", w.text+" may stand for files with keys")
	}
	j.judgeOperand(w, false)
}
