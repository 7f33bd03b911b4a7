package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/connection"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file runs the checks of `collie siyuan doctor` and judges what they found.

// CheckStatus is the result of a [Check].
type CheckStatus string

// The results of a check. One that is ok but has an issue works, though perhaps not as expected.
const (
	CheckOK     CheckStatus = "ok"
	CheckFailed CheckStatus = "failed"
	NotChecked  CheckStatus = "not_checked"
)

// Check is one check with its result.
type Check struct {
	Name   string      `json:"name"`
	Status CheckStatus `json:"status"`
	Issue  string      `json:"issue,omitempty"` // stable code
	Detail string      `json:"detail,omitempty"`
	Hint   string      `json:"hint,omitempty"`
}

// Failed returns the check as failed with err.
func (c Check) Failed(issue string, err error) Check {
	c.Status, c.Issue, c.Detail = CheckFailed, issue, err.Error()
	if e, ok := errors.AsType[*tool.Error](err); ok {
		c.Hint = e.Hint
		if e.Message != "" {
			c.Detail = e.Message
		}
	}
	return c
}

// Report lists what could keep the SiYuan tools from working.
type Report struct {
	Schema int    `json:"schemaVersion"`
	Status string `json:"status"` // ready or degraded
	Access struct {
		Reads        string `json:"reads"`        // available or unavailable
		StrictWrites string `json:"strictWrites"` // on, off or unavailable
	} `json:"access"`
	SessionMount   string       `json:"sessionMount"` // always unknown: a client's loaded servers are not visible to us
	Connection     string       `json:"connection,omitempty"`
	Kernel         *KernelFacts `json:"kernel,omitempty"`
	Checks         []Check      `json:"checks"`
	Issues         []string     `json:"issues"`
	Ready          bool         `json:"ready"`
	ToolsListBytes int          `json:"toolsListBytes,omitempty"`
	LatencyMS      float64      `json:"latencyP50Ms,omitempty"`

	strict bool
}

// Judge draws the conclusions from the checks.
func (r *Report) Judge() {
	r.Issues, r.Ready = []string{}, true
	reads := true
	for _, c := range r.Checks {
		if c.Issue != "" && !slices.Contains(r.Issues, c.Issue) {
			r.Issues = append(r.Issues, c.Issue)
		}
		if c.Status == CheckFailed {
			r.Ready = false
			reads = reads && !slices.Contains([]string{"configuration", "kernel", "token", "workspace", "levels"}, c.Name)
		}
	}
	r.Status, r.Access.Reads, r.Access.StrictWrites = "ready", "available", "off"
	if !r.Ready {
		r.Status = "degraded"
	}
	switch {
	case !reads:
		r.Access.Reads, r.Access.StrictWrites = "unavailable", "unavailable"
	case r.strict:
		r.Access.StrictWrites = "on"
	}
}

// Examined is what the doctor examines.
type Examined struct {
	// Err is the reason why nothing can be examined.
	Err error
	// Choice is the chosen kernel. Name names it for people, and Warnings are those of [connection.Resolve].
	Choice   connection.Choice
	Name     string
	Warnings []string
	// Vault is the built-in vault if no kernel is chosen.
	Vault *ExaminedVault
}

// ExaminedVault is the built-in vault as the checks use it.
type ExaminedVault struct {
	Path   string
	Exists bool
	// Open opens the file, or returns what is wrong with it.
	Open func(ctx context.Context) error
	// Kernel is a client of the vault; Level is the level of notebooks that no file lists.
	Kernel *kernel.Client
	Level  access.Level
}

// Examine runs all checks that need no gateway, in the order in which a person would fix their findings. It changes
// nothing.
func Examine(ctx context.Context, e *Examined) *Report {
	r := &Report{Schema: 1, SessionMount: "not_observable"}
	x := &examination{report: r, skipped: "not reached"}
	x.runChecks(ctx, e)
	for _, name := range []string{"configuration", "kernel", "token", "workspace", "endpoints", "clock", "levels", "tool config", "tools/list", "latency"} {
		if !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Name == name }) {
			r.Checks = append(r.Checks, Check{Name: name, Status: NotChecked, Detail: x.skipped})
		}
	}
	return r
}

// examination runs the checks once.
type examination struct {
	report *Report
	kernel *kernel.Client
	source *siyuan.Source
	// skipped is the reason for checks that were not made.
	skipped string
}

func (x *examination) addOK(name, issue, detail, hint string) {
	x.report.Checks = append(x.report.Checks, Check{name, CheckOK, issue, detail, hint})
}

func (x *examination) addFailed(name, issue string, err error) {
	x.report.Checks = append(x.report.Checks, Check{Name: name}.Failed(issue, err))
}

func (x *examination) runChecks(ctx context.Context, on *Examined) {
	if err := on.Err; err != nil {
		issue := "connection_invalid"
		if e, ok := errors.AsType[*tool.Error](err); ok && e.Code != "" {
			issue = e.Code
		}
		x.addFailed("configuration", issue, err)
		return
	}
	choice := on.Choice
	x.report.Connection = on.Name
	if on.Vault != nil {
		x.checkVault(ctx, on.Vault)
		return
	}
	var detail strings.Builder
	detail.WriteString(strings.TrimRight(fmt.Sprintf("%s, from the %s %s", choice.URL, choice.From, choice.Name), " "))
	for _, w := range on.Warnings {
		detail.WriteString("; " + w)
	}
	x.addOK("configuration", "", detail.String(), "")
	if !x.checkIdentity(ctx, choice) {
		return
	}
	x.kernel = kernel.New(choice.URL, kernel.Options{Token: choice.Token.Reveal(), ReadTimeout: tryTime, Waits: []time.Duration{}})
	defer x.kernel.Close()
	x.source = x.newSource(access.Read)
	defer x.source.Close()
	x.checkKernel(ctx)
}

// newSource returns a source for the examined kernel.
func (x *examination) newSource(level access.Level) *siyuan.Source {
	return siyuan.New(siyuan.Options{Kernel: x.kernel, DefaultLevel: level, SwitchTTL: -1, Logger: slog.New(slog.DiscardHandler)})
}

// checkKernel runs the checks of a kernel that answers.
func (x *examination) checkKernel(ctx context.Context) {
	x.checkEndpoints(ctx)
	x.checkClock(ctx)
	x.checkLevels(ctx)
	x.checkSwitches(ctx)
	x.checkLatency(ctx)
}

// checkIdentity checks the kernel's identity.
func (x *examination) checkIdentity(ctx context.Context, choice connection.Choice) bool {
	facts, err := TryKernel(ctx, choice.URL, choice.Token.Reveal(), nil)
	switch e, ok := errors.AsType[*tool.Error](err); {
	case err != nil && facts.Version == "":
		issue := "kernel_not_running"
		if ok && e.Code == NotAKernel {
			issue = NotAKernel
		}
		x.addFailed("kernel", issue, err)
		return false
	case err != nil:
		x.addOK("kernel", "", "SiYuan "+facts.Version, "")
		x.addFailed("token", "kernel_unauthorized", err)
		return false
	}
	x.report.Kernel = &facts
	x.addOK("kernel", "", "SiYuan "+facts.Version, "")
	x.addOK("token", "", fmt.Sprintf("%s, accepted; notebooks: %d", choice.Token, facts.Notebooks), "")
	if facts.ReadOnly {
		x.addOK("workspace", "kernel_read_only", "a read-only kernel does not report it", "its notes can be read; what writes or needs SQL is refused until it is started without --readonly")
		return true
	}
	if err := choice.Verify(facts.Workspace); err != nil {
		x.addFailed("workspace", "other_workspace", err)
		return false
	}
	x.addOK("workspace", "", facts.Workspace, "")
	return true
}
