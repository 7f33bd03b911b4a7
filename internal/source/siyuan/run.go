package siyuan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Run runs an action, or serves a help page or a prompt.
func (s *Source) Run(ctx context.Context, c *tool.Call) (tool.Result, error) {
	switch c.Kind {
	case tool.KindCall:
		return s.act(ctx, c)
	case tool.KindRead:
		return s.read(ctx, c)
	case tool.KindPrompt:
		return s.prompt(ctx, c)
	case tool.KindComplete, tool.KindRequest:
	}
	return tool.Result{}, &tool.Error{Op: "call", Kind: tool.Unknown, Subject: c.Name, Message: "nothing here can be completed"}
}

// act runs an action.
func (s *Source) act(ctx context.Context, c *tool.Call) (tool.Result, error) {
	b, err := s.Bind(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	return b.Run(ctx)
}

// Bind resolves the targets of a call and checks their levels, with the switches and the levels of
// now; see [tool.Binder].
func (s *Source) Bind(ctx context.Context, c *tool.Call) (tool.Bound, error) {
	r, err := s.request(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := r.Check(ctx); err != nil {
		return nil, plainCause(err)
	}
	return &bound{s, r}, nil
}

// bound is an action whose targets are resolved and checked.
type bound struct {
	source *Source
	r      *action.Request
}

// Run runs the action by the rules of safe writing.
func (b *bound) Run(ctx context.Context) (tool.Result, error) {
	raw, err := b.source.opts.Safety.Do(ctx, b.r)
	if b.r.Action.Tool == "notebook" && b.r.Action.Class.Writes() { // names and states may be others, even after an error
		b.source.levels.Forget()
	}
	if err != nil {
		return tool.Result{}, plainCause(err)
	}
	return b.source.result(b.r, raw), nil
}

// Plan names the targets for the question that a person is asked.
func (b *bound) Plan(ctx context.Context) (tool.Plan, error) {
	r := b.r
	plan := tool.Plan{Effect: r.Action.Purpose}
	if r.Action.Effect != nil {
		plan.Effect = r.Action.Effect(r)
	}
	names, err := notebookNames(ctx, r)
	if err != nil {
		return tool.Plan{}, plainCause(err)
	}
	for _, t := range r.AllTargets() {
		plan.Targets = append(plan.Targets, describe(ctx, r, &t, names))
	}
	return plan, nil
}

// request makes the run of a call: the action as it is switched now, and the levels of now.
func (s *Source) request(ctx context.Context, c *tool.Call) (*action.Request, error) {
	a := s.index[c.Tool][c.Action.Name]
	if a == nil {
		return nil, &tool.Error{Op: "call", Kind: tool.Removed, Subject: c.Tool + "." + c.Action.Name, Message: "there is no such action"}
	}
	if err := s.verify(ctx); err != nil {
		return nil, err
	}
	cfg := s.switches.Current(ctx)
	if cfg.Unreadable {
		if err := s.noKernel(ctx, cfg.Problem); err != nil {
			return nil, err
		}
	}
	if e := silent(cfg.Problem); e != nil {
		return nil, e // nothing else would be answered either
	}
	if why := off(a, cfg); why != "" || !cfg.ToolOn[a.Tool] {
		return nil, switchedOff(a, cfg, why)
	}
	writes := a.Class != action.Reads
	levels, err := s.levelsOf(ctx, c.Profile, writes)
	if err != nil {
		if cause := s.noKernel(ctx, err); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return action.NewRequest(a, action.Env{
		Kernel: s.opts.Kernel, Levels: levels, Config: cfg, Workspace: workspace{s, c}, Call: c, Log: s.log,
	}, c.Args), nil
}

// levelsOf are the levels of now for the callers of a profile. Whatever is done for a caller goes by them, never by
// those of the workspace alone.
func (s *Source) levelsOf(ctx context.Context, profile string, forWrite bool) (*access.Snapshot, error) {
	levels, err := s.levels.Snapshot(ctx, forWrite)
	if err != nil || s.opts.Ceiling == nil {
		return levels, err
	}
	return levels.Under(s.opts.Ceiling(profile)), nil
}

// Ready is nil: what is offered is known from the start; see [tool.Refresher].
func (s *Source) Ready(tool.ListKind) <-chan struct{} { return nil }

// Listed reads the tool config again where it is due, and again each time that is due while there is somebody to tell; see
// [tool.Refresher].
func (s *Source) Listed(kind tool.ListKind, attended func() bool) {
	if kind != tool.ListTools || s.switches.Left() > 0 && !attended() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started && !s.looking && s.ctx.Err() == nil {
		s.looking = true
		s.running.Go(func() { s.look(attended) })
	}
}

// lookAgain is when the tool config is read again that could not be read, or that is good for no time.
const lookAgain = 30 * time.Second

// look reads the tool config whenever that is due, until nobody is there to be told.
func (s *Source) look(attended func() bool) {
	for {
		s.switches.Current(s.ctx)
		due := time.NewTimer(cmp.Or(s.switches.Left(), lookAgain))
		select {
		case <-due.C:
		case <-s.ctx.Done():
			due.Stop()
			return
		}
		s.mu.Lock()
		if !attended() { // whoever comes now finds that nobody looks
			s.looking = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
	}
}

// Current reads the tool config again, if that is due, where the action of a call is off, so that it
// is not refused by what the config said before. The error is why the kernel cannot be asked.
func (s *Source) Current(ctx context.Context, c *tool.Call) (*tool.Action, error) {
	t := s.offered(c.Tool)
	if c.Action.Off == "" && (t == nil || t.Off == "") {
		return c.Action, nil
	}
	if e := silent(s.switches.Current(ctx).Problem); e != nil {
		return nil, e
	}
	if t = s.offered(c.Tool); t != nil {
		for i := range t.Actions {
			if t.Actions[i].Name == c.Action.Name {
				return &t.Actions[i], nil
			}
		}
	}
	return c.Action, nil
}

// offered is the tool of a name as it is offered now; nil if there is none.
func (s *Source) offered(name string) *tool.Tool {
	tools := s.Offer().Tools
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// verifyEvery is how long a kernel counts as the one that was meant. A person may open another
// workspace in SiYuan at any time, and it answers at the same address.
const verifyEvery = 10 * time.Second

// verify makes sure that the kernel is the one that was meant.
func (s *Source) verify(ctx context.Context) error {
	if s.opts.Verify == nil {
		return nil
	}
	s.mu.Lock()
	done := s.verified
	s.mu.Unlock()
	if !done.IsZero() && time.Since(done) < verifyEvery {
		return nil
	}
	if err := s.opts.Verify(ctx, s.opts.Kernel); err != nil {
		return err
	}
	s.mu.Lock()
	s.verified = time.Now()
	s.mu.Unlock()
	return nil
}

func switchedOff(a *action.Action, cfg *access.Config, why string) error {
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

// noKernel looks whether files of the workspace could not be read because no kernel answers, or
// something else that is none; nil if there is one. It asks only where something has failed.
func (s *Source) noKernel(ctx context.Context, err error) error {
	if cause := plainCause(err); cause != err { //nolint:errorlint // whether it is another one
		return cause
	}
	if _, err := s.opts.Kernel.Version(ctx); err != nil {
		return err
	}
	return nil
}

// plainCause is the error to tell where something could not be looked up because the kernel
// cannot be asked at all: that is what has to be mended.
func plainCause(err error) error {
	if e := silent(err); e != nil {
		return e
	}
	return err
}

// silent is what in err says that the kernel cannot be asked at all; nil if nothing does.
func silent(err error) *tool.Error {
	for ; err != nil; err = errors.Unwrap(err) {
		e, ok := err.(*tool.Error) //nolint:errorlint // each link of the chain is looked at
		if ok && (e.Kind == tool.Unavailable || e.Kind == tool.Unauthorized || e.Kind == tool.Busy) {
			return e
		}
	}
	return nil
}

// notebookNames are the names of the notebooks that may be read.
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

// describe names a target for a person: by its place in the tree where it has one.
func describe(ctx context.Context, r *action.Request, t *action.Target, names map[kernel.ID]string) string {
	name := names[t.Notebook]
	switch {
	case t.What == access.Notebook:
		return fmt.Sprintf("notebook %s (%s)", t.Title, t.ID)
	case t.Notebook == "" || t.Root == "":
		return fmt.Sprintf("%s %s", t.What, t.Subject)
	}
	path := t.HPath
	if path == "" {
		if found, err := r.Kernel.HPathByID(ctx, t.Root); err == nil { // else its title does
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
