package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"collie/internal/source"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the checks that ask a kernel or look into the vault.

// checkEndpoints makes one harmless request of each family that the tools need: the kernel's abilities are tested, not
// guessed from its version.
func (x *examination) checkEndpoints(ctx context.Context) {
	families := []struct {
		name string
		ask  func() error
	}{
		{"SQL", func() error {
			_, err := kernel.SQL[struct{}](ctx, x.kernel, "SELECT id FROM blocks LIMIT 1")
			return err
		}},
		{"files", func() error { _, err := x.kernel.ReadDir(ctx, "/data"); return err }},
		{"databases", func() error { _, err := x.kernel.SearchDatabases(ctx, "", nil); return err }},
		{"flashcards", func() error { _, err := x.kernel.Decks(ctx); return err }},
		{"tags", func() error { _, err := x.kernel.TagSort(ctx); return err }},
	}
	var lacking, refused []string
	for _, f := range families {
		if err := f.ask(); tool.KindOf(err) == kernel.NotInKernel && err != nil {
			lacking = append(lacking, f.name)
		} else if isReadOnlyError(err) {
			refused = append(refused, f.name)
		} else if err != nil {
			x.addFailed("endpoints", "endpoint_failed", fmt.Errorf("%s: %w", f.name, err))
			return
		}
	}
	if len(lacking) > 0 {
		x.addFailed("endpoints", "unsupported_by_kernel", &tool.Error{
			Op: "check", Kind: kernel.NotInKernel, Message: "this kernel has none for " + strings.Join(lacking, ", "),
			Hint: "update SiYuan; the tools that need no more than it has work",
		})
		return
	}
	if len(refused) > 0 {
		x.addOK("endpoints", "kernel_read_only", "a read-only kernel refuses "+strings.Join(refused, ", "), "")
		return
	}
	x.addOK("endpoints", "", fmt.Sprintf("%d families requested, all present", len(families)), "")
}

// clockSkew is how far the clocks of two machines usually differ.
const clockSkew = 30 * time.Second

func (x *examination) checkClock(ctx context.Context) {
	before := time.Now()
	ms, err := x.kernel.CurrentTime(ctx)
	if err != nil {
		x.addFailed("clock", "endpoint_failed", err)
		return
	}
	skew := time.UnixMilli(ms).Sub(before.Add(time.Since(before) / 2)).Round(time.Second)
	if skew.Abs() > clockSkew {
		x.addOK("clock", "clock_skew", fmt.Sprintf("the kernel's clock is off by %v", skew), "set the clocks right: times of notes and of undo are compared")
		return
	}
	x.addOK("clock", "", "the same as here", "")
}

// checkLevels checks the files of levels.
func (x *examination) checkLevels(ctx context.Context) {
	s, err := x.source.Levels().Snapshot(ctx, true)
	if err != nil {
		x.addFailed("levels", "permission_unavailable", err)
		return
	}
	all, err := s.All(ctx)
	if err != nil {
		x.addFailed("levels", "endpoint_failed", err)
		return
	}
	count := map[access.Level]int{}
	for _, n := range all {
		count[s.Of(n.ID)]++
	}
	var parts []string
	for _, l := range []access.Level{access.None, access.Read, access.Write, access.Delete} {
		if count[l] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[l], l))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "none")
	}
	issue, hint := "", ""
	if count[access.Write]+count[access.Delete] == 0 && len(all) > 0 {
		issue, hint = "nothing_writable", "collie siyuan permission set NOTEBOOK rw lets tools write in one"
	}
	files := x.existingFiles(ctx, access.LevelFiles())
	x.addOK("levels", issue, "notebooks: "+strings.Join(parts, ", ")+files, hint)
}

// existingFiles returns the names of the files that exist in the workspace.
func (x *examination) existingFiles(ctx context.Context, files []string) string {
	have := slices.DeleteFunc(files, func(f string) bool {
		raw, err := x.kernel.ReadFile(ctx, f)
		return err != nil || len(raw) == 0
	})
	if len(have) == 0 {
		return "; no file lists any"
	}
	return "; listed in " + strings.Join(have, ", ")
}

// checkSwitches checks the tool config and what clients get to see by it.
func (x *examination) checkSwitches(ctx context.Context) {
	cfg := x.source.Switches().Current(ctx)
	if cfg.Problem != nil {
		x.addFailed("tool config", "tool_configuration_unreadable", cfg.Problem)
		return
	}
	x.report.strict = cfg.Strict != nil && *cfg.Strict
	detail, issue, hint := "none: the defaults hold", "", ""
	if cfg.Source != "" {
		detail = fmt.Sprintf("%s, format %s", cfg.Source, cfg.Format)
	}
	switch {
	case cfg.Old():
		issue, hint = "tool_configuration_legacy", "collie siyuan config migrate rewrites it"
	case len(cfg.Findings) > 0:
		issue, hint = "tool_configuration_findings", "collie siyuan config show lists what has no effect"
	}
	x.addOK("tool config", issue, detail, hint)
	catalog := source.New([]tool.Source{x.source}, source.Options{})
	defer catalog.Close()
	raw, _ := catalog.List(ctx, tool.ListTools, "")
	x.report.ToolsListBytes = len(raw)
	x.addOK("tools/list", "", fmt.Sprintf("%d bytes", len(raw)), "")
}

// checkLatency measures how long a simple request takes.
func (x *examination) checkLatency(ctx context.Context) {
	const calls = 5
	took := make([]time.Duration, calls)
	for i := range took {
		began := time.Now()
		if _, err := x.kernel.Notebooks(ctx); err != nil {
			x.addFailed("latency", "endpoint_failed", err)
			return
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	middle := took[calls/2]
	x.report.LatencyMS = float64(middle.Microseconds()) / 1000
	x.addOK("latency", "", fmt.Sprintf("%v in the middle of %d calls", middle.Round(10*time.Microsecond), calls), "")
}

// checkVault runs the checks of the built-in vault. It does not create a missing file.
func (x *examination) checkVault(ctx context.Context, v *ExaminedVault) {
	x.kernel = v.Kernel
	x.source = x.newSource(v.Level)
	defer x.source.Close()
	if !v.Exists {
		x.addOK("configuration", "", "no SiYuan is configured: the built-in vault serves, "+v.Path+", which the first use makes", "")
		x.skipped = "the vault is not made yet"
		x.checkSwitches(ctx)
		return
	}
	x.addOK("configuration", "", "no SiYuan is configured: the built-in vault serves, "+v.Path, "")
	if err := v.Open(ctx); err != nil {
		x.addFailed("kernel", "vault_unreadable", err)
		return
	}
	version, err := x.kernel.Version(ctx)
	facts := KernelFacts{Version: version}
	if err == nil {
		facts, err = facts.withDetails(ctx, x.kernel)
	}
	if err != nil {
		x.addFailed("kernel", "endpoint_failed", err)
		return
	}
	facts.Workspace = v.Path
	x.report.Kernel = &facts
	x.addOK("kernel", "", "the vault, which answers as SiYuan "+facts.Version+" does", "")
	x.addOK("token", "", fmt.Sprintf("none is needed; notebooks: %d", facts.Notebooks), "")
	x.addOK("workspace", "", facts.Workspace, "")
	x.checkKernel(ctx)
}
