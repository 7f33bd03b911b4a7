package process

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"
)

// Command says what to start.
type Command struct {
	// Label names the child in logs and in the ledger: a server's name.
	Label string
	// Name is the program: a path, or a name looked up in the PATH of Env.
	Name string
	Args []string
	// Env is the child's whole environment, "K=V" each; nil is an empty one. Nothing is
	// inherited.
	Env []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Stderr is called for each line of stderr, by one goroutine, in order, without the
	// line break; longer lines are cut at 64 KiB. It must not keep line, and must not
	// block for long: the child stalls meanwhile. Nil is allowed.
	Stderr func(line []byte)
}

// hash tells commands apart without keeping their arguments, which may hold secrets.
func (c *Command) hash() string {
	h := sha256.New()
	for _, s := range append([]string{c.Name, c.Dir}, c.Args...) {
		h.Write([]byte(strings.ReplaceAll(s, "\x00", "")))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Options are the optional parts of [Start]; nil means defaults.
type Options struct {
	// Ladder holds the waits of [Process.Stop].
	Ladder Ladder
	// Reaper and Ledger learn of the child before Start returns and forget it when
	// nothing of its group is left. Either may be nil.
	Reaper *Reaper
	Ledger *Ledger
	// Logger hears of what no caller can be told: a reaper that does not start, a child
	// that SIGKILL does not end. Nil discards.
	Logger *slog.Logger
}

// Ladder holds the two waits of a stop. Zero means 3 s, a negative value no wait.
type Ladder struct {
	// CloseWait is the time to end after stdin is closed, before SIGTERM.
	CloseWait time.Duration
	// TermWait is the time to end after SIGTERM, before SIGKILL. It also holds for what
	// the leader of the group leaves behind.
	TermWait time.Duration
}

func (l Ladder) withDefaults() Ladder {
	return Ladder{CloseWait: cmp.Or(l.CloseWait, 3*time.Second), TermWait: cmp.Or(l.TermWait, 3*time.Second)}
}

// loggerOr returns l, or one that discards.
func loggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// batchLine is the command line that makes cmd.exe run a batch file with these arguments
// and take nothing in them for syntax: no AutoRun, no delayed expansion, every argument
// quoted. Inside quotes only two characters still mean something to cmd: a quote, which
// is doubled, and a percent sign, which an empty substring of the always present variable
// cd keeps from pairing up. Windows only.
func batchLine(path string, args []string) string {
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /s /c "`)
	for i, arg := range append([]string{path}, args...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.WriteString(strings.NewReplacer(
			`"`, `""`, "%", "%%cd:~,%", "\r", " ", "\n", " ", "\x00", "",
		).Replace(arg))
		if strings.HasSuffix(arg, `\`) {
			b.WriteByte('\\') // the program's own parser would take \" for a quote
		}
		b.WriteByte('"')
	}
	b.WriteByte('"')
	return b.String()
}
