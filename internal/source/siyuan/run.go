package siyuan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file runs the calls of this source: it resolves their targets, checks levels, and runs the action.

// Run runs an action, or serves a help page or a prompt.
func (s *Source) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	switch c.Kind {
	case tool.KindCall:
		return s.runAction(ctx, c)
	case tool.KindRead:
		return s.readHelp(ctx, c)
	case tool.KindPrompt:
		return s.fillPrompt(ctx, c)
	case tool.KindComplete, tool.KindRequest:
	}
	return tool.Result{}, &tool.Error{Op: "call", Kind: tool.NotFound, Subject: c.Name, Message: "nothing here can be completed"}
}

// runAction runs an action.
func (s *Source) runAction(ctx context.Context, c *tool.Call) (tool.Result, error) {
	b, err := s.Bind(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	return b.Run(ctx)
}

// Bind resolves the targets of a call and checks their levels, with the current switches and levels; see
// [tool.Binder].
func (s *Source) Bind(ctx context.Context, c *tool.Call) (tool.Bound, error) {
	r, err := s.newRequest(ctx, c)
	if err != nil {
		return nil, err
	}
	// A call that is sent again gets its result before its targets are looked up: it may have removed or moved them, and
	// something else may have their place.
	raw, err := s.opts.Safety.Replay(r)
	switch {
	case err != nil:
		return nil, err
	case raw != nil:
		return &replayedCall{s, r, raw}, nil
	}
	if err := r.Check(ctx); err != nil {
		return nil, preferUnreachable(err)
	}
	return &boundCall{s, r}, nil
}

// replayedCall is a call that has run before.
type replayedCall struct {
	source *Source
	r      *action.Request
	raw    json.RawMessage // its result
}

// Run returns the result of the first time.
func (c *replayedCall) Run(context.Context) (tool.Result, error) {
	return c.source.mcpResult(c.r, c.raw), nil
}

// Plan says that nothing happens.
func (c *replayedCall) Plan(context.Context) (tool.Plan, error) {
	return tool.Plan{Effect: "do nothing more: this call ran before, and its result is given again"}, nil
}

// boundCall is an action whose targets are resolved and checked.
type boundCall struct {
	source *Source
	r      *action.Request
}

// Run runs the action by the rules of safe writing.
func (b *boundCall) Run(ctx context.Context) (tool.Result, error) {
	raw, err := b.source.opts.Safety.Do(ctx, b.r)
	if b.r.Action.Tool == "notebook" && b.r.Action.Class.Writes() { // also after an error, since notebooks may have changed
		b.source.levels.Forget()
	}
	if err != nil {
		return tool.Result{}, preferUnreachable(err)
	}
	return b.source.mcpResult(b.r, raw), nil
}

// Plan names the targets for the question to a person.
func (b *boundCall) Plan(ctx context.Context) (tool.Plan, error) {
	r := b.r
	plan := tool.Plan{Effect: r.Action.Purpose}
	if r.Action.Effect != nil {
		plan.Effect = r.Action.Effect(r)
	}
	names, err := notebookNames(ctx, r)
	if err != nil {
		return tool.Plan{}, preferUnreachable(err)
	}
	for _, t := range r.AllTargets() {
		plan.Targets = append(plan.Targets, describeTarget(ctx, r, &t, names))
		plan.Name = t.Title
	}
	if len(plan.Targets) != 1 {
		plan.Name = ""
	}
	plan.Touches = changedPlaces(r, names)
	return plan, nil
}

// changedPlaces returns where everything lies that a call changes; nil if it may change more than its targets.
func changedPlaces(r *action.Request, names map[kernel.ID]string) (out []tool.Touch) {
	switch r.Action.Class {
	case action.Creates, action.State, action.Structure:
	case action.Reads, action.External, action.Manifest, action.Source:
		return nil
	}
	if slices.ContainsFunc(r.Action.Needs, func(n action.Need) bool { return n.Targets == nil }) {
		return nil // every notebook
	}
	for _, t := range r.AllTargets() {
		if t.Notebook == "" || slices.ContainsFunc(t.Also, func(id kernel.ID) bool { return id != t.Notebook }) {
			return nil
		}
		at := tool.Touch{Kind: tool.TouchNotes, Value: string(t.Notebook), Notebook: names[t.Notebook]}
		if below := strings.Trim(strings.TrimSuffix(t.Path, ".sy"), "/"); t.Root != "" && below != "" {
			at.Value += "/" + below
			if at.Document = t.HPath; at.Document == "" {
				at.Document = "/" + t.Title
			}
		}
		out = append(out, at)
	}
	return out
}

// newRequest prepares the run of a call with the current switches and levels.
func (s *Source) newRequest(ctx context.Context, c *tool.Call) (*action.Request, error) {
	a := s.index[c.Tool][c.Action.Name]
	if a == nil {
		return nil, &tool.Error{Op: "call", Kind: tool.Removed, Subject: c.Tool + "." + c.Action.Name, Message: "there is no such action"}
	}
	cfg, err := s.currentConfig(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Unreadable {
		if err := s.unreachableCause(ctx, cfg.Problem); err != nil {
			return nil, err
		}
	}
	if e := unreachableError(cfg.Problem); e != nil {
		return nil, e // no other request would be answered either
	}
	if why := offReason(a, cfg); why != "" || !cfg.ToolOn[a.Tool] {
		return nil, switchedOffError(a, cfg, why)
	}
	writes := a.Class != action.Reads
	levels, err := s.levelsOf(ctx, c.Profile, writes)
	if err != nil {
		if cause := s.unreachableCause(ctx, err); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return action.NewRequest(a, action.Env{
		Kernel: s.opts.Kernel, Levels: levels, Config: cfg, Workspace: workspace{s, c}, Call: c, Log: s.log,
	}, c.Args), nil
}

// levelsOf returns the current levels for the callers of a profile. Everything done for a caller uses them, never the
// workspace's levels alone.
func (s *Source) levelsOf(ctx context.Context, profile string, forWrite bool) (*access.Snapshot, error) {
	levels, err := s.levels.Snapshot(ctx, forWrite)
	if err != nil || s.opts.Ceiling == nil {
		return levels, err
	}
	return levels.Under(s.opts.Ceiling(profile)), nil
}

// Ready returns nil: the offer is known from the start; see [tool.Refresher].
func (s *Source) Ready(tool.ListKind) <-chan struct{} { return nil }

// Listed reads the tool config again when its time is up, and keeps doing so while a client is there to be told; see
// [tool.Refresher].
func (s *Source) Listed(kind tool.ListKind, attended func() bool) {
	if kind != tool.ListTools || s.switches.Left() > 0 && !attended() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started && !s.watching && s.ctx.Err() == nil {
		s.watching = true
		s.running.Go(func() { s.watchConfig(attended) })
	}
}

// retryConfigAfter is the wait before the tool config is read again after a failed reading, or if it has no validity.
const retryConfigAfter = 30 * time.Second

// watchConfig reads the tool config whenever its time is up, until no client is left.
func (s *Source) watchConfig(attended func() bool) {
	for {
		s.readConfig()
		due := time.NewTimer(cmp.Or(s.switches.Left(), retryConfigAfter))
		select {
		case <-due.C:
		case <-s.ctx.Done():
			due.Stop()
			return
		}
		s.mu.Lock()
		if !attended() { // under the lock, so that a client that comes now starts a new look
			s.watching = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// Current reads the tool config again, if its time is up, when the action of a call is off: the call must not be
// refused by an old config. The error says why the kernel cannot be asked.
func (s *Source) Current(ctx context.Context, c *tool.Call) (*tool.Action, error) {
	t := s.offeredTool(c.Tool)
	if c.Action.Off == "" && (t == nil || t.Off == "") {
		return c.Action, nil
	}
	cfg, err := s.currentConfig(ctx)
	if err != nil {
		return nil, err
	}
	if e := unreachableError(cfg.Problem); e != nil {
		return nil, e
	}
	if t = s.offeredTool(c.Tool); t != nil {
		for i := range t.Actions {
			if t.Actions[i].Name == c.Action.Name {
				return &t.Actions[i], nil
			}
		}
	}
	return c.Action, nil
}

// offeredTool returns the tool as it is offered now; nil if there is none.
func (s *Source) offeredTool(name string) *tool.Tool {
	tools := s.Offer().Tools
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// currentConfig returns the tool config, read again if its time is up. A kernel that is not the intended one is not asked for
// it, and gets no token.
func (s *Source) currentConfig(ctx context.Context) (*access.Config, error) {
	if err := s.opts.Verifier.Verify(ctx); err != nil {
		return nil, err
	}
	return s.switches.Current(ctx), nil
}

// ConfigProblem reads the tool config if its time is up, and returns why that could not be read, nil if it could.
func (s *Source) ConfigProblem(ctx context.Context) error {
	cfg, err := s.currentConfig(ctx)
	if err != nil {
		return err
	}
	return cfg.Problem
}

// readConfig reads the tool config if its time is up, so that the offer is current.
func (s *Source) readConfig() {
	if _, err := s.currentConfig(s.ctx); err != nil {
		s.log.Debug("tool config not read", "error", err)
	}
}

// switchedOffError returns the error for a call of an action that is off, or whose tool is.
func switchedOffError(a *action.Action, cfg *access.Config, why string) error {
	e := &tool.Error{
		Op: "call", Kind: tool.Disabled, Code: "action_disabled", Subject: a.Tool + "." + a.Name,
		Message: fmt.Sprintf("action %q of tool %q is switched off: %s", a.Name, a.Tool, why),
		Hint:    fmt.Sprintf("a person can switch it on: collie siyuan config set %s.%s on", a.Tool, a.Name),
	}
	if !cfg.ToolOn[a.Tool] {
		e.Code, e.Message = "tool_disabled", fmt.Sprintf("tool %q is switched off", a.Tool)
		e.Hint = fmt.Sprintf("a person can switch it on: collie siyuan config set %s on", a.Tool)
	}
	return e
}

// unreachableCause returns why a workspace file could not be read, if the reason is that no kernel answers, or another program
// does; nil for other reasons. err is the error of reading the file. If that does not tell, the kernel is asked for its version.
func (s *Source) unreachableCause(ctx context.Context, err error) error {
	if cause := preferUnreachable(err); cause != err { //nolint:errorlint // whether it is another one
		return cause
	}
	if _, err := s.opts.Kernel.Version(ctx); err != nil {
		return err
	}
	return nil
}

// preferUnreachable returns the error that the kernel cannot be asked at all, if that is the reason for err, since that is
// what has to be fixed; else err.
func preferUnreachable(err error) error {
	if e := unreachableError(err); e != nil {
		return e
	}
	return err
}

// unreachableError returns the error in the chain of err that says that the kernel cannot be asked at all; nil if there
// is none.
func unreachableError(err error) *tool.Error {
	for ; err != nil; err = errors.Unwrap(err) {
		e, ok := err.(*tool.Error) //nolint:errorlint // each link of the chain is looked at
		if ok && (e.Kind == tool.Unavailable || e.Kind == tool.Unauthorized || e.Kind == tool.Busy) {
			return e
		}
	}
	return nil
}

// notebookNames returns the names of the notebooks that may be read.
func notebookNames(ctx context.Context, r *action.Request) (map[kernel.ID]string, error) {
	if len(r.AllTargets()) == 0 {
		return nil, nil
	}
	list, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	out := map[kernel.ID]string{}
	for _, n := range list {
		out[n.ID] = n.Name
	}
	return out, nil
}

// describeTarget names a target for a person: by its place in the tree if it has one.
func describeTarget(ctx context.Context, r *action.Request, t *action.Target, names map[kernel.ID]string) string {
	name := names[t.Notebook]
	switch {
	case t.What == access.Notebook:
		return fmt.Sprintf("notebook %s (%s)", t.Title, t.ID)
	case t.Notebook == "" || t.Root == "":
		return fmt.Sprintf("%s %s", t.What, t.Subject)
	}
	path := t.HPath
	if path == "" {
		if found, err := r.Kernel.HPathByID(ctx, t.Root); err == nil { // otherwise the title is used
			path = found
		} else {
			path = "/" + t.Title
		}
	}
	if t.ID == t.Root {
		return fmt.Sprintf("document /%s%s (%s)", name, path, t.ID)
	}
	return fmt.Sprintf("%s %s in /%s%s", t.What, t.ID, name, path)
}
