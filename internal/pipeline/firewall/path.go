package firewall

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"collie/internal/tool"
)

// This file judges paths: files with secrets, files of the system, and whatever lies outside the allowed roots.

// maxPaths is how many paths of a call are resolved; a person is asked about calls with more, for the reason manyPaths.
const (
	maxPaths  = 100
	manyPaths = "it names more than 100 paths"
)

// Resolve implements [Files.Resolve] for this machine: it follows all links in the longest prefix of an absolute path that
// exists.
func Resolve(p string) string {
	rest := ""
	for at := filepath.FromSlash(p); ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.ToSlash(filepath.Join(real, rest))
		}
		if target, err := os.Readlink(at); err == nil { // a link to what does not exist yet
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			return filepath.ToSlash(filepath.Join(target, rest))
		}
		up := filepath.Dir(at)
		if up == at {
			return p
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
}

// looksLikePath reports whether a string can only be a path: an absolute one on one line.
func looksLikePath(s string) bool {
	begins := strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `\\`) || isDrive(s) ||
		strings.HasPrefix(s, "../") || strings.HasPrefix(s, `..\`)
	return begins && len(s) <= 4096 && !strings.ContainsAny(s, "\n\r")
}

// isDrive reports whether s begins like a Windows path: C:\ or C:/.
func isDrive(s string) bool {
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// judgePath judges a path. Only if its argument is named like a path must it lie within the roots: /v1/items may be
// part of a URL.
func (j *judgement) judgePath(s string, named bool) {
	if decoded, ok := fromFileURL(s); ok {
		s = decoded
	}
	if strings.IndexByte(s, 0) >= 0 {
		j.report(Deny, "path.nul", "a path has a zero byte in it")
		return
	}
	s = strings.TrimPrefix(strings.TrimSpace(s), "@") // many programs read the file that @FILE names
	if device := strings.ReplaceAll(s, `\`, "/"); strings.HasPrefix(device, "//?/") || strings.HasPrefix(device, "//./") || strings.HasPrefix(device, "/??/") {
		j.report(Deny, "path.device", "it names a device, or is written so that the rules for paths miss it")
		return
	}
	if j.pathCount++; j.pathCount > maxPaths {
		j.touched.addUnknown()
		j.judgeName(s, named && !j.readsOnly())
		return
	}
	absolute, relative := j.canonical(s)
	resolved := j.resolve(absolute, relative)
	if relative {
		j.touched.addUnknown()
	} else {
		j.touched.add(tool.TouchFile, resolved)
	}
	write := named && !j.judgesCwd && !j.readsOnly()
	rule, bad := j.forbidden(absolute, write, relative && !leavesFolder(s))
	if !bad && resolved != absolute {
		rule, bad = j.forbidden(resolved, write, false)
	}
	for i := 0; i < len(j.cwds) && relative && !bad; i++ {
		rule, bad = j.forbidden(j.resolve(path.Join(j.cwds[i], absolute), false), write, false)
	}
	switch {
	case bad:
		j.report(Deny, rule.name, fmt.Sprintf("%s: %s", s, rule.why))
	case named && j.effects().Has(tool.EffectDelete) && !relative && j.holdsSystem(resolved):
		j.report(Deny, "path.everything", s+" holds far more than anyone would want to delete")
	case named && !relative:
		j.judgeRoots(s, resolved, write)
	}
}

// leavesFolder reports whether a relative path leads out of its folder.
func leavesFolder(p string) bool {
	return strings.HasPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "..")
}

// judgeName judges a path by its name only, without resolving it. It is used when there are too
// many paths.
func (j *judgement) judgeName(s string, write bool) {
	j.report(Ask, "path.many", manyPaths)
	if j.isPlainPath(s) {
		return
	}
	p, relative := j.canonical(s)
	if rule, bad := j.forbidden(p, write, relative && !leavesFolder(s)); bad {
		j.report(Deny, rule.name, s+": "+rule.why)
	}
}

// fromFileURL returns the path of a file URL.
func fromFileURL(s string) (string, bool) {
	if len(s) < 5 || !strings.EqualFold(s[:5], "file:") {
		return "", false
	}
	rest, host := strings.CutPrefix(s[5:], "//")
	if i := strings.IndexByte(rest, '/'); host && i > 0 && !isDrive(rest) { // whatever machine it names
		rest = rest[i:]
	}
	for range 2 {
		if decoded, err := url.PathUnescape(rest); err == nil {
			rest = decoded
		}
	}
	return rest, true
}

// canonical returns a path with / as separator, without . and .., and with ~ expanded. A relative path is returned as
// if it began at the root, since the tool's working folder is unknown.
func (j *judgement) canonical(s string) (p string, relative bool) {
	p = s
	windows := isDrive(p) || strings.HasPrefix(p, `\\`)
	if windows || strings.Contains(p, `..\`) || strings.HasPrefix(p, `~\`) || strings.HasPrefix(p, "%") && strings.Contains(p, `%\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if windows {
		p = asWindowsReads(p)
	}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = j.files.Home + p[1:]
	case strings.HasPrefix(p, "%"):
		if name, rest, ok := strings.Cut(p[1:], "%"); ok && strings.Contains(" USERPROFILE HOMEPATH HOME ", " "+strings.ToUpper(name)+" ") {
			p = j.files.Home + rest
		}
	case strings.HasPrefix(p, "$HOME"), strings.HasPrefix(p, "${HOME}"):
		p = j.files.Home + strings.TrimPrefix(strings.TrimPrefix(p, "$HOME"), "${HOME}")
	}
	if isDrive(p) {
		p = "/" + strings.ToLower(p)
	}
	if relative = !strings.HasPrefix(p, "/"); relative {
		p = "/" + p
	}
	p = path.Clean(p)
	if !isASCII(p) && !norm.NFC.IsNormalString(p) {
		p = norm.NFC.String(p)
	}
	return j.foldCase(p), relative
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asWindowsReads returns a path of Windows, with slashes, without what Windows leaves out: case, dots and spaces at the end of
// names, and names of streams.
func asWindowsReads(p string) string {
	parts := strings.Split(strings.ToLower(p), "/")
	for i, part := range parts {
		if i > 0 {
			part, _, _ = strings.Cut(part, ":")
		}
		if part != "." && part != ".." {
			parts[i] = strings.TrimRight(part, ". ")
		}
	}
	return strings.Join(parts, "/")
}

func (j *judgement) foldCase(p string) string {
	if j.files.Folds {
		return strings.ToLower(p)
	}
	return p
}

func (j *judgement) resolve(p string, relative bool) string {
	if relative || j.files.Resolve == nil {
		return p
	}
	return j.foldCase(j.files.Resolve(p))
}

// judgeRoots denies a path outside the roots, if there are any.
func (j *judgement) judgeRoots(s, p string, write bool) {
	if len(j.policy.ReadRoots) == 0 && len(j.policy.WriteRoots) == 0 {
		return
	}
	roots := j.policy.WriteRoots
	if !write {
		roots = slices.Concat(roots, j.policy.ReadRoots)
	}
	for _, root := range roots {
		root, _ = j.canonical(root)
		if root = j.resolve(root, false); p == root || root == "/" || strings.HasPrefix(p, root+"/") {
			return
		}
	}
	j.report(Deny, "path.outside", s+" lies outside of the folders that guard.roots allows")
}

// pathRule forbids the paths that match a pattern.
type pathRule struct {
	pattern string
	name    string
	why     string
	write   bool // reading is fine
}

const (
	whyGuarded = "it holds keys or passwords"
	whyMemory  = "it shows the memory or the environment of programs"
	whySystem  = "it belongs to the system"
	whyStarts  = "files there run automatically later"
)

// pathGroups are the paths that no call touches, as lists of patterns with one reason.
var pathGroups = [...]struct {
	name, why string
	write     bool // reading is fine
	patterns  string
}{
	{"path.secret", whyGuarded, false, `~/.ssh/** ~/.gnupg/** ~/.aws/** ~/.azure/** ~/.kube/** ~/.config/gcloud/** ~/.config/gh/hosts.yml
	~/.config/op/** ~/.config/age/** ~/.config/sops/** ~/.password-store/** ~/.local/share/keyrings/** ~/.local/share/kwalletd/** ~/Library/Keychains/** ~/Library/Cookies/**
	~/.netrc ~/.npmrc ~/.pypirc ~/.pgpass ~/.my.cnf ~/.git-credentials ~/.docker/config.json ~/.cargo/credentials ~/.cargo/credentials.toml ~/.claude/.credentials.json ~/.codex/auth.json ~/.config/rclone/rclone.conf ~/.config/pip/pip.conf ~/.config/doctl/** ~/.config/hub ~/.config/containers/auth.json ~/.m2/settings.xml ~/.gradle/gradle.properties
	~/.composer/auth.json ~/.config/composer/auth.json ~/.config/git/credentials ~/.config/glab-cli/** ~/.config/github-copilot/** ~/.gemini/oauth_creds.json ~/.cache/huggingface/token ~/.kaggle/** ~/.fly/**
	~/.databrickscfg ~/.oci/** ~/.config/solana/** ~/.pulumi/** ~/.local/share/com.vercel.cli/** ~/.terraformrc ~/.authinfo ~/.msmtprc ~/.config/pypoetry/auth.toml ~/.nuget/NuGet/NuGet.Config ~/.electrum/** ~/.config/Signal/**
	~/.gem/credentials ~/.s3cfg ~/.boto ~/.vault-token ~/.terraform.d/credentials.tfrc.json
	~/.mozilla/** ~/.config/google-chrome/** ~/.config/chromium/** ~/.config/BraveSoftware/** ~/.config/microsoft-edge/** ~/.thunderbird/**
	~/Library/Application?Support/Google/Chrome/** ~/Library/Application?Support/Firefox/** ~/AppData/Local/Google/Chrome/** ~/AppData/Roaming/Mozilla/** ~/AppData/Roaming/Microsoft/Credentials/** ~/AppData/Roaming/Microsoft/Protect/**
	/root/.ssh/** /home/*/.ssh/** /Users/*/.ssh/** **/.ssh/id_* **/.aws/credentials **/.gnupg/** **/.env **/.env.* **/.envrc **/*.tfstate **/*.tfvars **/*.ppk **/*.ovpn **/wallet.dat **/*.pem **/*.p12 **/*.pfx **/*.kdbx **/*.keystore **/*.jks
	**/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/id_ed25519_sk **/id_ecdsa_sk **/.git-credentials **/.netrc **/.pgpass **/.htpasswd **/.vault-token **/.docker/config.json
	/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d/** /etc/ssh/ssh_host_* /etc/ssl/private/** /etc/krb5.keytab /etc/security/opasswd /etc/master.passwd /etc/wireguard/** /etc/kubernetes/admin.conf /etc/rancher/** /etc/ipsec.secrets /etc/ppp/chap-secrets /etc/wpa_supplicant/** /etc/mysql/debian.cnf /var/lib/samba/private/** /etc/NetworkManager/system-connections/** /var/lib/sss/secrets/** /run/user/*/containers/auth.json /var/lib/docker/** /run/secrets/** /var/run/secrets/**
	/var/run/docker.sock /run/docker.sock /run/containerd/** /run/user/*/gnupg/** /run/user/*/keyring/** **/windows/system32/config/sam **/windows/system32/config/security **/ntds.dit`},
	{"path.secret", "it holds what was typed, passwords too", false, `~/.bash_history ~/.zsh_history ~/.history ~/.python_history ~/.node_repl_history ~/.psql_history ~/.mysql_history ~/.sqlite_history
	~/.rediscli_history ~/.viminfo ~/.lesshst ~/.local/share/atuin/** ~/.ipython/** ~/.zsh_sessions/** ~/.bash_sessions/** ~/.local/share/fish/fish_history`},
	{"path.memory", whyMemory, false, `/proc/*/environ /proc/*/mem /proc/*/root/** /proc/*/root /proc/*/cmdline /proc/*/maps /proc/*/fd/** /proc/*/cwd/** /proc/*/task/** /proc/kcore /dev/mem /dev/kmem /dev/port /proc/kmem`},
	{"path.device", "it is a device", false, `/dev/sd* /dev/nvme* /dev/hd* /dev/vd* /dev/xvd* /dev/mmcblk* /dev/disk/** /dev/disk* /dev/rdisk* /dev/mapper/** /dev/dm-* /dev/loop* /dev/md* /dev/tcp/** /dev/udp/**`},
	{"path.system", whySystem, true, `/etc/** /usr/** /boot/** /bin/** /sbin/** /lib/** /lib64/** /sys/** /proc/** /System/** /Library/** /private/etc/** /?:/windows/** /?:/program?files/** /var/log/** /var/lib/dpkg/** /var/spool/**`},
	{"path.starts", whyStarts, true, `~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.kshrc ~/.cshrc ~/.tcshrc ~/.inputrc ~/.config/fish/** ~/.xinitrc ~/.xprofile ~/.xsession
	~/.config/autostart/** ~/.config/systemd/** ~/.local/share/systemd/** ~/Library/LaunchAgents/** ~/Library/LaunchDaemons/** ~/.config/environment.d/** ~/.pam_environment ~/.vimrc ~/.config/nvim/** ~/.emacs ~/.emacs.d/** ~/.gitconfig ~/.config/git/** ~/.local/bin/** ~/bin/** ~/.bash_aliases
	**/.git/hooks/** **/.git/config **/.husky/** **/start?menu/programs/startup/** **/.vscode/tasks.json **/.vscode/mcp.json **/.cursor/mcp.json **/.mcp.json **/.claude/settings.json **/.claude/settings.local.json ~/.claude.json ~/.codex/config.toml ~/.gemini/settings.json
	**/.cargo/config **/.cargo/config.toml **/rust-toolchain **/rust-toolchain.toml **/.yarnrc.yml ~/.terminfo/** **/.envrc **/crontab **/cron.d/** **/cron.daily/** **/cron.hourly/** **/documents/powershell/** **/documents/windowspowershell/**`},
	{"path.notes", "notes are changed through their tools, not in their files", true, `**/*.sy **/siyuan/conf/** **/siyuan/temp/**`},
}

// publicFiles are names that the rules about secrets allow: samples, and public certificates.
var publicFiles = []string{".env.example", ".env.sample", ".env.template", ".env.dist", "cacert.pem", "ca-bundle.pem"}

// pathRules are the rules of [pathGroups], indexed by a component of the paths that they forbid.
type pathRules struct {
	byComponent map[string][]pathRule // by the first component without wildcards, in lower case
	others      []pathRule            // rules whose patterns have no such component
	endings     map[string]bool       // of the names that others match: pem for **/*.pem
}

// builtinRules returns the rules of [pathGroups]. They are built when the first path is judged, because most commands
// judge none.
var builtinRules = sync.OnceValue(func() *pathRules {
	rules := &pathRules{byComponent: map[string][]pathRule{}, endings: map[string]bool{}}
	for _, group := range pathGroups {
		for pattern := range strings.FieldsSeq(group.patterns) {
			rule := pathRule{pattern: pattern, name: group.name, why: group.why, write: group.write}
			if component := literalComponent(pattern); component != "" {
				rules.byComponent[component] = append(rules.byComponent[component], rule)
			} else {
				rules.addEnding(pattern)
				rules.others = append(rules.others, rule)
			}
		}
	}
	return rules
})

// literalComponent returns the first component of a pattern without wildcards other than ~, in lower case; "" if there
// is none.
func literalComponent(pattern string) string {
	for part := range strings.SplitSeq(pattern, "/") {
		if part != "" && part != "~" && !strings.ContainsAny(part, "*?") {
			return strings.ToLower(part)
		}
	}
	return ""
}

// holdsSystem reports whether a path is the root, a home or another folder that holds a whole system.
func (j *judgement) holdsSystem(p string) bool {
	dir := path.Dir(p)
	return p == "/" || dir == "/" || p == j.home() || dir == "/home" || dir == "/Users"
}

func (j *judgement) home() string {
	if j.homePath == "" {
		j.homePath, _ = j.canonical(j.files.Home)
	}
	return j.homePath
}

// forbidden returns the rule that forbids a path. inside means that the path lies somewhere below an unknown folder, so
// that its first folder, such as lib, is most likely not the system's.
func (j *judgement) forbidden(p string, write, inside bool) (pathRule, bool) {
	if isHarmlessDevice(p) {
		return pathRule{}, false
	}
	rules := builtinRules()
	for part := range strings.SplitSeq(strings.ToLower(p), "/") {
		if rule, ok := j.firstForbidding(rules.byComponent[part], p, write, inside); ok {
			return rule, true
		}
	}
	if rule, ok := j.firstForbidding(rules.others, p, write, inside); ok {
		return rule, true
	}
	for _, own := range j.policy.Own {
		if own, _ = j.canonical(own); own != "/" && (p == own || strings.HasPrefix(p, own+"/")) {
			return pathRule{name: "path.own", why: "it belongs to Collie itself"}, true
		}
	}
	for _, pattern := range j.policy.DenyPaths {
		if j.matches(pattern, p) {
			return pathRule{name: "path.denied", why: "guard.paths.deny names it"}, true
		}
	}
	return pathRule{}, false
}

// firstForbidding returns the first of the rules that forbids a path.
func (j *judgement) firstForbidding(rules []pathRule, p string, write, inside bool) (pathRule, bool) {
	for i := range rules {
		if inside && rules[i].name == "path.system" {
			continue
		}
		if j.applies(&rules[i], p, write) {
			return rules[i], true
		}
	}
	return pathRule{}, false
}

// applies reports whether a rule forbids a path.
func (j *judgement) applies(rule *pathRule, p string, write bool) bool {
	if rule.write && !write || !j.matches(rule.pattern, p) {
		return false
	}
	base := path.Base(p)
	return rule.name != "path.secret" || !strings.HasSuffix(base, ".pub") && !slices.Contains(publicFiles, base)
}

func isHarmlessDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	number, isOpen := strings.CutPrefix(p, "/dev/fd/")
	return isOpen && number != "" && strings.Trim(number, "0123456789") == ""
}

// matches reports whether an absolute path matches a pattern.
func (j *judgement) matches(pattern, p string) bool {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		if inside, ok := strings.CutPrefix(p, j.home()); ok && j.files.Home != "" && matchPath(j.foldCase(rest), strings.TrimPrefix(inside, "/")) {
			return true
		}
		// The path may be relative, or of another machine: match the name of the folder anywhere.
		if !strings.HasPrefix(rest, ".") {
			return false
		}
		return matchPath(j.foldCase("**/"+rest), strings.TrimPrefix(p, "/"))
	}
	return matchPath(j.foldCase(strings.TrimPrefix(pattern, "/")), strings.TrimPrefix(p, "/"))
}

// matchPath matches components separated by slashes; ** matches any number of them.
func matchPath(pattern, p string) bool {
	for {
		head, rest, more := strings.Cut(pattern, "/")
		if head == "**" {
			if !more {
				return true
			}
			if !strings.Contains(rest, "/") {
				return rest == "**" || matchName(rest, p[strings.LastIndexByte(p, '/')+1:])
			}
			for {
				if matchPath(rest, p) {
					return true
				}
				_, after, ok := strings.Cut(p, "/")
				if !ok {
					return false
				}
				p = after
			}
		}
		part, after, deeper := strings.Cut(p, "/")
		if !matchName(head, part) {
			return false
		}
		switch {
		case !more:
			return !deeper
		case !deeper:
			return rest == "**" // x/** matches x itself too
		}
		pattern, p = rest, after
	}
}

// matchName matches one component; * matches any characters, ? a single one.
func matchName(pattern, name string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			for i := 0; i <= len(name); i++ {
				if matchName(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		case name == "" || pattern[0] != '?' && pattern[0] != name[0]:
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return name == ""
}
