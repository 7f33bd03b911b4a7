package firewall

import (
	"strings"
	"sync"
)

// judgeXargs judges a command that xargs runs, whose further arguments are unknown.
func (j *judgement) judgeXargs(inner []word) {
	switch programName(inner) {
	case "": // without a command xargs runs echo
		if len(inner) == 0 {
			return
		}
	case "echo", "wc", "ls", "basename", "dirname", "stat", "file", "du", "md5sum", "sha1sum", "sha256sum", "printf":
		j.askUnlessHarmless(inner)
		return
	}
	j.report(Ask, "command.dynamic", "xargs runs it with arguments that are not known")
}

// wrappers are programs that run the command which follows their options.
const wrappers = " env nohup nice ionice time timeout gtimeout stdbuf setsid command builtin xargs exec sudo doas chroot strace ltrace unbuffer caffeinate proxychains "

var isWrapper = sync.OnceValue(func() map[string]bool { return setOf(wrappers) })

// wrapperOptions are the options, by wrapper, that take the next word as their value.
var wrapperOptions = map[string]string{
	"env": "uC", "nohup": "", "nice": "n", "ionice": "cnp", "time": "fo", "timeout": "sk", "gtimeout": "sk", "stdbuf": "ioe", "setsid": "",
	"command": "", "builtin": "", "xargs": "InPLdEsa",
}

// unwrap returns the command that a wrapper runs, if the wrapper itself does no harm.
func unwrap(name string, words []word) (inner []word, ok bool) {
	values, ok := wrapperOptions[name]
	if !ok {
		return nil, false
	}
	if name == "command" && len(words) > 0 && (words[0].text == "-v" || words[0].text == "-V") {
		return nil, false
	}
	duration := name == "timeout" || name == "gtimeout"
	for len(words) > 0 {
		text := words[0].text
		switch {
		case !words[0].fixed:
			return nil, false
		case name == "env" && (strings.HasPrefix(text, "-S") || strings.HasPrefix(text, "--split") || strings.HasPrefix(text, "-vS")):
			return nil, false
		case name == "time" && (strings.HasPrefix(text, "-o") || strings.HasPrefix(text, "--out")):
			return nil, false
		case text == "--":
			words = words[1:]
			if !duration {
				return words, true
			}
			continue
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "-") && len(text) > 2:
		case strings.HasPrefix(text, "-") && len(text) == 2:
			if strings.Contains(values, text[1:]) && len(words) > 1 {
				words = words[1:]
			}
		case name == "env" && strings.Contains(text, "="):
		case duration:
			duration = false
		default:
			return words, true
		}
		words = words[1:]
	}
	return nil, name == "xargs"
}
