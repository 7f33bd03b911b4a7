package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/modelapi"
	"collie/internal/source/upstream/session"
	"collie/internal/tool"
)

// This file tests a server step by step, for `collie mcp doctor`.

// Diagnose tests a server step by step on a connection of its own and calls tell as each step ends. It stops at the
// first failing step, stops the server, and returns ok = false. It changes neither cache nor pins.
func Diagnose(ctx context.Context, spec Spec, opts Options, tell func(tool.Step)) (ok bool) {
	opts.Cache, opts.Pins = nil, nil
	set := NewSet([]Spec{spec}, opts)
	defer set.Close(context.WithoutCancel(ctx))
	d := diagnosis{ctx: ctx, server: set.servers[0], report: tell}
	for _, step := range []struct {
		name string
		do   func(*diagnosis) (detail string, err error)
	}{
		{"settings", (*diagnosis).settings},
		{"command", (*diagnosis).command},
		{"environment", (*diagnosis).environment},
		{"start and handshake", (*diagnosis).connect},
		{"tools", (*diagnosis).tools},
		{"model APIs", (*diagnosis).modelAPIs},
		{"resources", (*diagnosis).resources},
		{"prompts", (*diagnosis).prompts},
		{"ping", (*diagnosis).ping},
	} {
		if !d.step(step.name, step.do) {
			d.stop()
			return false
		}
	}
	return d.stop()
}

// diagnosis is a test of one server in progress.
type diagnosis struct {
	ctx    context.Context //nolint:containedctx // of the one function that all of this is part of
	server *Server
	report func(tool.Step)
	conn   *conn
	known  listing.Lists
	notes  []string // of the current step
}

// entryError is the error of an invalid entry.
type entryError struct{ reason, text string }

// Error says what is wrong.
func (e *entryError) Error() string { return e.text }

// errSkipped means that a step does not apply to this server.
var errSkipped = errors.New("not needed")

func (d *diagnosis) step(name string, do func(*diagnosis) (string, error)) bool {
	begun := time.Now()
	detail, err := do(d)
	if errors.Is(err, errSkipped) {
		return true
	}
	step := tool.Step{Name: name, OK: err == nil, Detail: d.server.redact(detail), Seconds: time.Since(begun).Seconds()}
	for _, note := range d.notes {
		step.Notes = append(step.Notes, d.server.redact(note))
	}
	d.notes = nil
	if err != nil {
		reason, hint := reasonOf(err)
		if reason == "auth_required" {
			hint = d.server.authHint()
		}
		if e, ok := errors.AsType[*tool.Error](err); ok && d.conn == nil {
			reason, hint = e.Kind.Type(), e.Hint
		}
		step.Detail, step.Reason, step.Hint = d.server.redact(err.Error()), reason, hint
		for _, line := range d.server.logs() {
			step.Said = append(step.Said, line.Text)
		}
		step.Said = step.Said[max(0, len(step.Said)-20):]
		if len(step.Said) > 0 { // lines that the error repeats are left out
			step.Detail, _, _ = strings.Cut(step.Detail, "; it said: ")
		}
	}
	d.report(step)
	return err == nil
}

func (d *diagnosis) settings() (string, error) {
	if d.server.invalidReason != "" {
		return "", &entryError{d.server.Status().Reason, d.server.invalidReason}
	}
	if err := d.server.checkUsable(); err != nil { // an untrusted server is not started, not even to test it
		return "", err
	}
	conf := d.server.settings()
	return fmt.Sprintf("%s, protocol %s, lifecycle %s", conf.Transport, conf.Protocol, conf.Lifecycle), nil
}

func (d *diagnosis) command() (string, error) {
	conf := d.server.settings()
	if conf.Transport != entry.Stdio {
		return conf.URL.String(), nil
	}
	path, err := process.Resolve(conf.Command.Reveal(), d.server.dialer.Environment(), conf.Dir)
	if err != nil {
		return "", err
	}
	return path + " in " + conf.Dir, nil
}

func (d *diagnosis) environment() (string, error) {
	if d.server.settings().Transport != entry.Stdio {
		return "", errSkipped
	}
	var names []string
	path := ""
	for _, pair := range d.server.dialer.Environment() {
		name, value, _ := strings.Cut(pair, "=")
		names = append(names, name)
		if name == "PATH" {
			path = value
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%s; PATH is %s", strings.Join(names, " "), path), nil
}

func (d *diagnosis) connect() (detail string, err error) {
	if d.conn, err = d.server.connect(d.ctx, "", mcp.Modern, false); err != nil {
		return "", err
	}
	if err = d.conn.Client.Ready(d.ctx); err != nil {
		return "", err
	}
	c := d.conn.Client
	info := "a server that gives no name"
	if st := strings.TrimSpace(listing.NameOf(c.Info)); st != "" {
		info = st
	}
	return fmt.Sprintf("%s speaks %s (%s)", info, c.Version, c.Era), nil
}

// fetch requests one list.
func (d *diagnosis) fetch(which listing.Kind) error {
	return d.server.listing.Fetch(d.ctx, d.conn.feed, which, &d.known)
}

func (d *diagnosis) tools() (string, error) {
	if err := d.fetch(listing.Tools); err != nil {
		return "", err
	}
	var detail strings.Builder
	fmt.Fprintf(&detail, "%d", len(d.known.Tools))
	if n := len(d.known.Dropped); n > 0 {
		fmt.Fprintf(&detail, ", %d left out: %s", n, d.known.Dropped[0].Reason)
	}
	for _, def := range d.known.Tools {
		if listing.TaskOnly(d.conn.Client.Capabilities, def) {
			fmt.Fprintf(&detail, "; %s runs as a task only, which Collie does not carry", mcp.GetString(def, "name"))
		}
	}
	return detail.String(), nil
}

// mostBreaking bounds the tools named in one note.
const mostBreaking = 8

// modelAPIs notes the tools whose definitions exceed a limit of some model API when they are listed unchanged, in the
// flat view.
func (d *diagnosis) modelAPIs() (string, error) {
	if len(d.known.Tools) == 0 {
		return "", errSkipped
	}
	breaking := map[string]bool{}
	for _, a := range modelapi.APIs() {
		at := map[string][]string{} // names of tools by the limit that they exceed
		for _, def := range d.known.Tools {
			name := mcp.GetString(def, "name")
			for _, b := range a.Check(d.listedAs(name), def) {
				at[b.Limit] = append(at[b.Limit], name)
				breaking[name] = true
			}
		}
		if a.Tools > 0 && len(d.known.Tools) > a.Tools {
			d.notes = append(d.notes, fmt.Sprintf("%s takes at most %d tools, and %s has %d", a.Name, a.Tools, d.server.name, len(d.known.Tools)))
		}
		for _, limit := range slices.Sorted(maps.Keys(at)) {
			names, more := at[limit], ""
			if n := len(names) - mostBreaking; n > 0 {
				names, more = names[:mostBreaking], fmt.Sprintf(" and %d more", n)
			}
			d.notes = append(d.notes, fmt.Sprintf("%s does not take %s: %s%s of %s", a.Name, limit, strings.Join(names, ", "), more, d.server.name))
		}
	}
	if len(d.notes) == 0 {
		return fmt.Sprintf("all %d tools fit", len(d.known.Tools)), nil
	}
	return fmt.Sprintf("%d of %d tools do not fit all; they are passed on as they are, and fit in the views grouped and search", len(breaking), len(d.known.Tools)), nil
}

// listedAs returns a tool's name in the flat view, provided that no other tool wants the same name.
func (d *diagnosis) listedAs(name string) string {
	conf := d.server.settings()
	return tool.ListedName(conf.Prefix, cmp.Or(conf.Tools.Override[name].Alias, name), d.server.name, name)
}

func (d *diagnosis) resources() (string, error) {
	if !d.conn.Client.Can("resources") {
		return "", errSkipped
	}
	err := errors.Join(d.fetch(listing.Resources), d.fetch(listing.Templates))
	return fmt.Sprintf("%d, and %d templates", len(d.known.Resources), len(d.known.Templates)), err
}

func (d *diagnosis) prompts() (string, error) {
	if !d.conn.Client.Can("prompts") {
		return "", errSkipped
	}
	err := d.fetch(listing.Prompts)
	return fmt.Sprintf("%d", len(d.known.Prompts)), err
}

func (d *diagnosis) ping() (string, error) {
	if d.conn.Client.Era != mcp.Legacy {
		return "", errSkipped
	}
	if !d.conn.Ping(d.ctx) {
		return "", fmt.Errorf("no answer within %v", session.PingLimit)
	}
	return "answered", nil
}

// stop ends the server if it was started, and reports how long that took.
func (d *diagnosis) stop() bool {
	if d.conn == nil {
		return true
	}
	return d.step("stop", func(d *diagnosis) (string, error) {
		d.conn.Close(context.WithoutCancel(d.ctx))
		if d.conn.Process == nil {
			return "closed", nil
		}
		exit := d.conn.Process.Exit()
		if exit.Signal != "" {
			return "ended with " + exit.String() + "; it does not end with its input", nil
		}
		return "ended with " + exit.String(), nil
	})
}
