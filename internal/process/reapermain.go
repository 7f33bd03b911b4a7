package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reaperGrace is what a group gets between SIGTERM and SIGKILL.
const reaperGrace = 3 * time.Second

// ReaperCommand is the one argument with which this program is started as its reaper. It is spelled as it always was: a
// gateway that runs while its program is replaced by a newer one starts that.
const ReaperCommand = "__guard"

// IsReaper reports whether a command line, with the name of the program, is that of a reaper.
func IsReaper(line []string) bool { return len(line) == 2 && line[1] == ReaperCommand }

// ReaperMain is what the reaper process runs: it reads the list of groups from r, its
// stdin, and when r ends it ends every group still listed. It takes no notice of SIGINT,
// SIGTERM and SIGHUP, which are often meant for everyone at once. What it does at the end
// goes to log, which may be [io.Discard]. It returns the exit code: 0, or 1 if a group
// survived.
//
// A line is "+GROUP START", START being the leader's [StartTime] or 0, or "-GROUP". The
// last line for a group counts; others are passed over.
func ReaperMain(r io.Reader, log io.Writer) int {
	deaf := make(chan os.Signal, 1) // nobody listens; a full channel drops the rest
	signal.Notify(deaf, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(deaf)

	groups := map[int]int64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if pgid, start, add, ok := parseReaperLine(lines.Text()); ok && add {
			groups[pgid] = start
		} else if ok {
			delete(groups, pgid)
		}
	}
	var targets []target
	for pgid, start := range groups {
		if t := (target{pgid, start}); t.mayBeOurs() {
			targets = append(targets, t)
		}
	}
	left := endGroups(context.Background(), targets, reaperGrace)
	if len(targets) > 0 {
		fmt.Fprintf(log, "reaper: ended %d of %d process groups\n", len(targets)-len(left), len(targets))
	}
	if len(left) > 0 {
		return 1
	}
	return 0
}

// parseReaperLine refuses the numbers that kill(2) takes for something else than a group.
func parseReaperLine(line string) (pgid int, start int64, add, ok bool) {
	rest, add := strings.CutPrefix(line, "+")
	if !add {
		if rest, ok = strings.CutPrefix(line, "-"); !ok {
			return 0, 0, false, false
		}
	}
	number, after, two := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 1 || two != add {
		return 0, 0, false, false
	}
	if add {
		if start, err = strconv.ParseInt(after, 10, 64); err != nil || start < 0 {
			return 0, 0, false, false
		}
	}
	return int(n), start, add, true
}
