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
//	pip       names of packages, with options that only select and format
//	none      no operands
//	alone     nothing at all, not even an option
//	git       revisions, paths, and REVISION:PATH; options that write or run programs are excluded
//	versions  nothing but one of the options that follow, which show the version
//	list      the word list
//	kubectl   resources except secrets, with options that only select and format
//	test      words of which nothing is read
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
hexdump files -f
xxd one -r
strings files
file files -C -m --compile -f --files-from
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
test test
[ test
seq data
gofmt files -w -cpuprofile
base64 files -o --output
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
type files
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
set -e alone
set +e alone
set -eu alone
set -o pipefail alone
set -eo pipefail alone
set -euo pipefail alone
break data
continue data
getconf data
tput data -T
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
git cat-file git --textconv --filters --batch --batch-check --batch-command
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
pip list pip
pip show pip
pip freeze pip
pip3 list pip
pip3 show pip
pip3 freeze pip
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
journalctl data --vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var --setup-keys --smart-relinquish-var --cursor-file --update-catalog -D -o -M --directory --file --root --image --machine
npm version versions
terraform version versions
helm version versions
cargo version versions
awk versions --version -V
node versions --version -v
python versions --version -V
python3 versions --version -V
ruby versions --version -v
java versions --version -version
javac versions --version -version
rustc versions --version -V
gcc versions --version -v
g++ versions --version -v
clang versions --version -v
make versions --version
cmake versions --version
docker versions --version -v
npm versions --version -v
pnpm versions --version -v
bun versions --version -v
deno versions --version -V
cargo versions --version -V
php versions --version -v
perl versions --version -v
psql versions --version -V
sqlite3 versions --version -version
git versions --version -v
terraform versions --version -v
helm versions --version
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
	case "alone":
		return len(args) == 0
	case "versions":
		if len(rule.not) == 0 { // the program's own word for it
			return len(args) == 0
		}
		return len(args) == 1 && args[0].fixed && slices.Contains(rule.not, args[0].text)
	case "list":
		return len(args) == 1 && args[0].fixed && args[0].text == "list"
	case "kubectl":
		return !slices.ContainsFunc(args, func(a word) bool {
			if strings.HasPrefix(a.text, "-") {
				return !a.fixed || !kubectlOption(a.text)
			}
			return !a.fixed || a.globs || strings.Contains(strings.ToLower(a.text), "secret") || strings.Contains(a.text, "all") || strings.Contains(a.text, "file")
		})
	case "npm":
		return !slices.ContainsFunc(args, func(a word) bool {
			if strings.HasPrefix(a.text, "-") {
				return !a.fixed || !npmOption(a.text)
			}
			return !a.fixed || a.globs || !isPackage(a.text)
		})
	case "pip":
		return !slices.ContainsFunc(args, func(a word) bool { return !a.fixed || a.globs || strings.HasPrefix(a.text, "-") && !pipOption(a.text) })
	case "test":
		return j.coversTest(args)
	case "ps":
		for _, a := range args {
			letters, isGroup := strings.CutPrefix(a.text, "-")
			if !a.fixed || a.globs || strings.Contains(a.text, "environ") || !isGroup && strings.Contains(letters, "e") || isGroup && letters != "" && letters[0] != '-' &&
				strings.ContainsAny(letters, "eE") && strings.Trim(letters, "eAdFfljyLHTMZcwPo") != "" {
				return false
			}
		}
		return true
	}
	operands, ended, asPattern := 0, false, false
	for i, a := range args {
		before := word{fixed: true}
		if i > 0 {
			before = args[i-1]
		}
		if i > 1 && strings.HasPrefix(args[i-2].text, "-") { // then before may be the value of that
			before.option = true
		}
		if !ended && rule.mayGetOption(before, a, operands) || rule.words[0] == "date" && setsClock(before, a) {
			return false
		}
		if !ended && strings.HasPrefix(a.text, "-") && len(a.text) > 1 {
			if a.text == "--" { // after an option it may be the value of that
				ended = !strings.HasPrefix(before.text, "-")
				continue
			}
			asPattern = asPattern || rule.operands == "first" && givesPattern(a.text)
			if !a.fixed && rule.operands != "data" || forbidsOption(rule, a.text) {
				return false
			}
			j.judgeOperand(a, false)
			continue
		}
		if operands++; !j.coversOperand(rule, a, operands) {
			return false
		}
		if asPattern && operands == 1 { // the pattern is the value of an option, so this is a file
			j.judgeRead(a)
		}
	}
	return true
}

// readingOptions are excluded options with which a program does no more than read another file.
const readingOptions = " -f --file --files0-from --from-file -L --rawfile --slurpfile "

// mayGetOption reports whether what the shell makes of a word, after so many operands, may be an option that the rule
// excludes.
func (r *readerRule) mayGetOption(before, a word, operands int) bool {
	if r.words[0] == "printf" && operands > 0 { // its options stand before the format
		return false
	}
	if a.option && !a.splits && before.fixed && !before.option && strings.Contains(valuedOptions, " "+r.words[0]+before.text+" ") { // it is the value of an option
		return false
	}
	return (a.option || a.splits) && len(r.not) > 0 ||
		a.starts && (r.operands == "git" || slices.ContainsFunc(r.not, func(not string) bool { return !strings.Contains(readingOptions, " "+not+" ") }))
}

// valuedOptions are programs with an option whose value is the next word, whatever that is.
const valuedOptions = " date-d date--date journalctl-u journalctl--unit journalctl--since journalctl--until "

// setsClock reports whether an operand of date is a time to set.
func setsClock(before, a word) bool {
	return !strings.HasPrefix(a.text, "+") && !strings.HasPrefix(a.text, "-") && (before.option || before.text != "-d" && before.text != "--date") &&
		(!a.fixed || a.globs || strings.Trim(a.text, "0123456789.") == "")
}

// givesPattern reports whether an option of grep, rg or jq may give what the first operand is otherwise.
func givesPattern(option string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.HasPrefix("--regexp", strings.SplitN(option, "=", 2)[0]) || strings.HasPrefix(option, "--arg") || option == "--indent"
	}
	return strings.Contains(option, "e")
}

// pipOption reports whether an option only selects what is shown or formats it. Nearly all others may name a server, a
// file that is written, or a program.
func pipOption(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "--format", "--outdated", "--uptodate", "--user", "--local", "--not-required", "--verbose", "--files", "-o", "-u", "-l", "-v":
		return true
	}
	return false
}

// coversTest reports whether a test looks at nothing but texts and whether files exist.
func (j *judgement) coversTest(args []word) bool {
	computes := slices.ContainsFunc(args, isComparison)
	for _, a := range args {
		switch {
		case a.splits, computes && a.option: // some shells compute such a word
			return false
		case a.fixed:
			j.judgeRead(a)
		}
	}
	return true
}

// isComparison reports whether a word of a test has other words computed, or names a variable.
func isComparison(a word) bool {
	return slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", "-t"}, a.text)
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

// isPackage reports whether npm looks a text up in the registry: NAME or @SCOPE/NAME, with a version or without. It takes
// others for files, addresses or repositories.
func isPackage(text string) bool {
	scope, name, scoped := strings.Cut(text, "/")
	if !scoped {
		name = text
	}
	return (!scoped || strings.HasPrefix(scope, "@")) && !strings.ContainsAny(name, ":/~") && !strings.HasPrefix(text, ".") && !strings.HasSuffix(text, ".tgz")
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
		if n > 1 || a.globs {
			return false
		}
	case "first":
		if n == 1 {
			return a.fixed && (rule.words[0] != "jq" || harmlessJQ(a.text))
		}
		if rule.words[0] == "jq" && !harmlessJQ(a.text) { // after --arg the program comes later
			return false
		}
	case "git":
		if !a.fixed {
			return false
		}
		for rest := a.text; strings.Contains(rest, ":"); { // HEAD:file, :0:file, :(top)file
			_, rest, _ = strings.Cut(rest, ":")
			_, behind, isMagic := strings.Cut(rest, ")")
			if !isMagic {
				behind = rest
			}
			j.judgeRead(word{text: behind, fixed: true, globs: a.globs})
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
	if rule.words[0] == "go" { // -x and --x are the same
		name = "-" + strings.TrimLeft(name, "-")
	}
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
	case climbs(w.text):
		j.report(Ask, "command.dynamic", "it is not known which file "+w.text+" is if there is a link in it")
	case w.globs && (strings.ContainsAny(w.text, "?[") || strings.HasPrefix(w.text, ".") && !strings.HasPrefix(w.text, "./") || strings.Contains(w.text, "/.") ||
		strings.HasPrefix(w.text, "/") || strings.HasPrefix(w.text, "~")):
		j.report(Ask, "command.dynamic", "it is not known which files "+w.text+" stands for")
	case w.globs && j.matchesSecrets(w):
		j.report(Ask, "command.dynamic", w.text+" may stand for files with keys")
	}
	j.judgeOperand(w, false)
}

// climbs reports whether a path goes up after a name. If that is a link, the path leads elsewhere than its text says.
func climbs(p string) bool {
	p = strings.TrimPrefix(p, "./")
	for strings.HasPrefix(p, "../") {
		p = p[len("../"):]
	}
	return p != ".." && (strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."))
}
