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

var wrapperSet = sync.OnceValue(func() map[string]bool { return setOf(wrappers) })

// options are those of a wrapper that are known to do no harm. Whatever takes a value must be known, since the word after
// any other option may be its value as well as the program.
type options struct {
	flags  string // letters of options without a value
	values string // letters of options whose value is the rest of the word, or the next word
	long   string // long options; those that end in = have their value in the same word
}

// wrapperOptions are the known options by wrapper.
var wrapperOptions = map[string]options{
	"env": {"i0v", "uC", " --ignore-environment --null --debug --unset= --chdir= "}, "nohup": {}, "nice": {"0123456789", "n", " --adjustment= "},
	"ionice": {"t", "cn", " --class= --classdata= --ignore "}, "time": {"pvql", "f", " --format= --portability --verbose --quiet "},
	"timeout": timeoutOptions, "gtimeout": timeoutOptions, "stdbuf": {"", "ioe", " --input= --output= --error= "},
	"setsid": {"cfw", "", " --ctty --fork --wait "}, "command": {"p", "", ""}, "builtin": {},
	"xargs": {"0rtx", "InPLdEs", " --null --no-run-if-empty --verbose --exit --max-args= --max-procs= --max-lines= --max-chars= --delimiter= --replace= --eof= "},
}

var timeoutOptions = options{"fpv", "sk", " --foreground --preserve-status --verbose --signal= --kill-after= "}

// skip returns how many words an option takes up, itself and its value. It returns 0 if that is not known.
func (o *options) skip(option string) int {
	if strings.HasPrefix(option, "--") {
		name, _, valued := strings.Cut(option, "=")
		if valued {
			name += "="
		}
		if strings.Contains(o.long, " "+name+" ") {
			return 1
		}
		return 0
	}
	for i := 1; i < len(option); i++ {
		switch letter := option[i : i+1]; {
		case strings.Contains(o.flags, letter):
		case !strings.Contains(o.values, letter), letter == "C" && option != "-C": // the folder of env -C is looked for in the next word
			return 0
		case i+1 < len(option):
			return 1
		default:
			return 2
		}
	}
	return 1
}

// unwrap returns the command that a wrapper runs, if the wrapper itself does no harm.
func unwrap(name string, words []word) (inner []word, ok bool) {
	known, ok := wrapperOptions[name]
	if !ok {
		return nil, false
	}
	if name == "command" && len(words) > 0 && (words[0].text == "-v" || words[0].text == "-V") {
		return nil, false
	}
	duration := name == "timeout" || name == "gtimeout"
	for len(words) > 0 {
		text, n := words[0].text, 1
		switch {
		case !words[0].fixed || words[0].globs && duration:
			return nil, false
		case text == "--":
			if !duration {
				return words[1:], true
			}
		case strings.HasPrefix(text, "-") && len(text) > 1:
			if n = known.skip(text); n == 0 || n > len(words) || !words[n-1].fixed || words[n-1].globs {
				return nil, false
			}
		case name == "env" && strings.Contains(text, "="):
		case duration:
			duration = false
		default:
			return words, true
		}
		words = words[n:]
	}
	return nil, name == "xargs"
}
