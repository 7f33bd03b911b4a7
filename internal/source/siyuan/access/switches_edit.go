package access

import (
	"bytes"
	"context"
	"time"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file changes the tool config of a workspace, and converts older formats.

// Migration is the result of [Switches.Migrate].
type Migration struct {
	// From is the file that was read and Format its format; both are empty if there is none.
	From, Format string
	// To is the file that was written, and Backup the copy of the old one; both are empty if there was nothing to do.
	To, Backup string
	// Config is the config now in effect.
	Config *Config
}

// Edit changes the raw config in canonical form and writes it to our own file. If it was of an older format, a backup
// copy is made first. What edit does not change stays, unknown members too; numbers in raw are
// [encoding/json.Number]. It returns the config then in effect.
//
// A file that cannot be read is never overwritten: the error is the kernel's, or of kind API with the code
// config_corrupt. An error of edit is returned unchanged. An error of kind OutcomeUnknown means that the config may have
// been written, one of kind Mismatch that another program has overwritten it; with any other error it was not written.
func (s *Switches) Edit(ctx context.Context, edit func(raw map[string]any) error) (*Config, error) {
	m, err := s.rewrite(ctx, func(loadedConfig) bool { return true }, edit)
	return m.Config, err
}

// Migrate converts a config of an older format, or with old names of actions, to canonical form in our own file,
// after a backup copy. Without such a config it does nothing.
func (s *Switches) Migrate(ctx context.Context) (Migration, error) {
	old := func(f loadedConfig) bool { return f.config(s.opts.Known).old }
	return s.rewrite(ctx, old, func(map[string]any) error { return nil })
}

// rewrite applies edit to the config if wanted returns true for it, one call at a time.
func (s *Switches) rewrite(ctx context.Context, wanted func(loadedConfig) bool, edit func(map[string]any) error) (Migration, error) {
	select {
	case <-s.editToken:
	case <-ctx.Done():
		return Migration{}, &tool.Error{Op: "write tool config", Kind: tool.Canceled, Err: context.Cause(ctx)}
	}
	defer func() { s.editToken <- struct{}{} }()

	f, err := s.load(ctx)
	if err != nil {
		return Migration{}, err
	}
	before := f.config(s.opts.Known)
	m := Migration{From: f.path, Format: before.Format, Config: before}
	if !wanted(f) {
		return m, nil
	}
	raw := s.opts.Known.canonical(f.raw)
	if err := edit(raw); err != nil {
		return m, err
	}
	text, err := encodeConfig(raw)
	if err != nil {
		return m, &tool.Error{Op: "write tool config", Kind: tool.Internal, Err: err}
	}
	if before.old {
		m.Backup = ownFolder + configFile + ".bak-" + time.Now().UTC().Format("20060102150405")
		if err := s.kernel.WriteFile(ctx, m.Backup, f.text); err != nil {
			m.Backup = ""
			return m, err
		}
	}
	if err := s.write(ctx, text); err != nil {
		return m, err
	}
	m.To = ownFolder + configFile
	m.Config = s.Current(ctx)
	if m.Config.Source != m.To || !m.Config.Stale.IsZero() { // it exists but cannot be read now
		raw, _ = decodeConfig(text)
		m.Config = loadedConfig{m.To, text, raw}.config(s.opts.Known)
	}
	return m, nil
}

// write writes our file and reads it back. What is remembered is dropped in any case.
func (s *Switches) write(ctx context.Context, text []byte) error {
	path := ownFolder + configFile
	defer s.Forget()
	if err := s.kernel.WriteFile(ctx, path, text); err != nil {
		return err
	}
	got, err := readFile(ctx, s.kernel, path)
	if err != nil {
		return readBackError(path, err)
	}
	if !bytes.Equal(got, bytes.TrimSpace(text)) {
		return &tool.Error{
			Op: "write tool config", Kind: kernel.Mismatch, Subject: path,
			Message: "the stored config is not the one that was written",
			Hint:    "another program writes that file; try again",
		}
	}
	return nil
}

// Listed reports whether a file lists a notebook, that is, whether somebody has decided on its level.
func (s *Snapshot) Listed(notebook kernel.ID) bool {
	_, ok := s.listed[notebook]
	return ok
}

// Memory reads the tool config anew and returns the agent's own text. Errors are those of Edit.
func (s *Switches) Memory(ctx context.Context) (string, error) {
	f, err := s.load(ctx)
	return f.config(s.opts.Known).Memory, err
}

// Raw reads the tool config anew and returns it in canonical form, for [Switches.Edit] of another workspace; nil if
// no file has one. Errors are those of Edit.
func (s *Switches) Raw(ctx context.Context) (map[string]any, error) {
	f, err := s.load(ctx)
	if err != nil || f.raw == nil {
		return nil, err
	}
	return s.opts.Known.canonical(f.raw), nil
}
