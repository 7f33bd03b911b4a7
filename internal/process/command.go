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
	// Env is the child's whole environment, "K=V" each. Nothing is inherited; nil is an empty environment.
	Env []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Stderr is called for each line of stderr, in order, by one goroutine. Lines come without the line break
	// and are cut at 64 KiB. Stderr must not keep line, and must not block for long, because the child stalls
	// meanwhile. Nil discards.
	Stderr func(line []byte)
}

// hash identifies a command without keeping its arguments, which may hold secrets.
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
	// Reaper and Ledger register the child before Start returns, and remove it when no process of its
	// group is left. Either may be nil.
	Reaper *Reaper
	Ledger *Ledger
	// Logger hears of errors that cannot be returned to a caller: a reaper that does not start, a child that
	// SIGKILL does not end. Nil discards.
	Logger *slog.Logger
}

// Ladder holds the two waits of [Process.Stop]. 0 means 3 s, a negative value no wait.
type Ladder struct {
	// CloseWait is how long the child may take to end after its stdin is closed; then comes SIGTERM.
	CloseWait time.Duration
	// TermWait is how long it may take to end after SIGTERM; then comes SIGKILL. It also applies to processes
	// that outlive the leader of their group.
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

// batchLine returns the command line that makes cmd.exe run a batch file with these arguments and interpret
// nothing in them: no AutoRun, no delayed expansion, every argument quoted. Inside quotes only two characters
// still mean something to cmd. A quote is doubled. A percent sign is followed by an empty substring of the
// variable cd, which always exists, so that two percent signs never enclose a variable name. Windows only.
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
		).Replace(doubleBackslashes(arg)))
		b.WriteByte('"')
	}
	b.WriteByte('"')
	return b.String()
}

// doubleBackslashes doubles the backslashes before a quote, and at the end, where a quote follows: the program that runs takes two
// there for one, and an odd one for a part of the quote. Elsewhere each stands for itself.
func doubleBackslashes(arg string) string {
	var b strings.Builder
	run := 0
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			run++
		case '"':
			b.WriteString(strings.Repeat(`\`, run))
			run = 0
		default:
			run = 0
		}
		b.WriteByte(arg[i])
	}
	return b.String() + strings.Repeat(`\`, run)
}
