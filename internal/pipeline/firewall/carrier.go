package firewall

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"
)

// carriers are programs that can run commands given in their options or other arguments: tar --checkpoint-action, ssh -o
// ProxyCommand, vim -c, git -c.
const carriers = " tar bsdtar rsync scp sftp ssh vim vi nvim view emacs gdb lldb less man make gmake entr watchexec tmux screen sed git "

// gitTexts are the commands of git whose arguments are texts for people.
const gitTexts = " commit tag merge notes stash log grep revert cherry-pick show shortlog blame diff "

// judgeCarried looks for denied commands in the arguments of a carrier.
func (j *judgement) judgeCarried(name string, args []word) {
	if name == "git" && len(args) > 0 && args[0].fixed && strings.Contains(gitTexts, " "+args[0].text+" ") {
		return
	}
	if name == "ssh" {
		for _, a := range args {
			if strings.Contains(a.text, " ") {
				j.judgeScript(a.text)
			}
		}
	}
	for _, a := range args {
		if strings.ContainsAny(a.text, " \t") && j.spend(len(a.text)/8) {
			j.scanUnparsed(strings.Map(func(r rune) rune {
				if strings.ContainsRune("=!:+'\"", r) {
					return ' '
				}
				return r
			}, a.text))
		}
	}
}

// Words of other languages that fetch something, and that run a text.
var (
	fetchWords = []string{"urlopen", "requests.get", "fetch(", "open-uri", "uri.open", "lwp::simple", "webclient", "downloadstring", "downloadfile", "invoke-webrequest", "invoke-restmethod", "iwr ", "irm ", "http.get", "urlretrieve", "file_get_contents"}
	runWords   = []string{"exec(", "eval(", "eval ", "(eval)", "iex", "invoke-expression", "os.system", "subprocess", "child_process", "start-process", "runpy", "loadstring"}
	wipeWords  = []string{"rmtree", "rmsync", "rm_rf", "rm_r", "removeall", "deltree", "rimraf", "remove_tree"}
)

// sourceHarm returns why source code of other languages must never run, and the rule; both empty if it may.
func (j *judgement) sourceHarm(lower string) (reason, rule string) {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(lower, w) })
	}
	if has(fetchWords) && has(runWords) {
		return "it runs what it has just fetched", "command.download"
	}
	if strings.Contains(lower, "fork while fork") || strings.Contains(lower, "fork()") && (strings.Contains(lower, "while true") || strings.Contains(lower, "while(1)") || strings.Contains(lower, "while 1")) {
		return "a program that starts itself endlessly", "command.bomb"
	}
	if has(wipeWords) {
		words := strings.Fields(unquoted.Replace(lower))
		for i, w := range words[:max(0, len(words)-1)] {
			name := w[strings.LastIndexByte(w, '.')+1:]
			if slices.Contains(wipeWords, name) && j.isVast(word{text: words[i+1], fixed: true}) {
				return "it deletes far more than anyone would want", "command.everything"
			}
		}
	}
	return "", ""
}

// unquoted replaces the punctuation of calls and lists by spaces: run(['rm', '/']).
var unquoted = strings.NewReplacer("'", " ", `"`, " ", ",", " ", "[", " ", "]", " ", "(", " ", ")", " ")

// decodedPowerShell returns the text of an argument for -EncodedCommand, or "".
func decodedPowerShell(args []word) string {
	for i, a := range args[:max(0, len(args)-1)] {
		option := strings.ToLower(strings.TrimLeft(a.text, "-/"))
		if option == "" || len(option) == len(a.text) || !strings.HasPrefix("encodedcommand", option) && option != "ec" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(args[i+1].text)
		if err != nil || len(data)%2 != 0 {
			continue
		}
		units := make([]uint16, len(data)/2)
		for k := range units {
			units[k] = uint16(data[2*k]) | uint16(data[2*k+1])<<8
		}
		return string(utf16.Decode(units))
	}
	return ""
}
