package admin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
	"collie/internal/tool"
)

// This file records what connecting a client has changed in its files.

// connectStep is one change that connect made to a client's file, as recorded in <state>/connect.json. A step either adds
// Collie's entry or removes entries that Collie has taken over.
type connectStep struct {
	Client string        `json:"client"`
	File   string        `json:"file"`           // absolute, symbolic links resolved; relative ones were written once
	Name   string        `json:"name,omitempty"` // of Collie's entry; older versions did not write it
	What   string        `json:"what"`           // stepConnect or stepRemove
	SHA256 string        `json:"sha256"`         // digest of the file after the step
	Undo   hosts.Undo    `json:"undo"`
	Pieces []hosts.Piece `json:"pieces,omitempty"` // removed entries
}

const (
	stepConnect = "connect"
	stepRemove  = "move"
)

// connectLedger is the content of connect.json: all steps that have not been reversed, oldest first.
type connectLedger struct {
	Version int           `json:"version"`
	Steps   []connectStep `json:"steps"`
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func ledgerPath(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "connect.json") }

// updateLedger changes the ledger under the lock of its file.
func updateLedger(ctx context.Context, cfg *config.Config, change func(*connectLedger) error) error {
	path := ledgerPath(cfg)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.File{Path: path}.Update(ctx, func(old []byte) ([]byte, error) {
		l := connectLedger{Version: 1}
		if len(bytes.TrimSpace(old)) > 0 {
			if err := json.Unmarshal(old, &l); err != nil || l.Version != 1 {
				return nil, &tool.Error{
					Op: "connect", Kind: tool.Invalid, Subject: path, Err: err,
					Message: "this file says what was taken out of clients' files, and cannot be read",
					Hint:    "repair it, or move it away: entries that were taken out are in it",
				}
			}
		}
		if err := change(&l); err != nil {
			return nil, err
		}
		if len(l.Steps) == 0 && old == nil {
			return nil, nil
		}
		raw, err := json.MarshalIndent(l, "", "  ")
		return append(raw, '\n'), err
	})
}

// Remove makes the change also remove the duplicates in list from the client's file. Those in other files stay.
func (c *Connection) Remove(list []Duplicate) error {
	if c.connectText == nil {
		c.connectText = c.plan.Text()
	}
	for _, t := range list {
		if t.File != c.File || t.path == nil {
			continue
		}
		piece, err := c.plan.Remove(t.path)
		if err != nil {
			return err
		}
		c.removed = append(c.removed, piece)
	}
	c.Changed = c.plan.Changed()
	return nil
}

// Removed returns the names of the entries that the change removes.
func (c *Connection) Removed() []string { return pieceNames(c.removed) }

func pieceNames(pieces []hosts.Piece) []string {
	out := []string{}
	for _, p := range pieces {
		out = append(out, p.Path[len(p.Path)-1])
	}
	return out
}

// ApplyRecorded makes the change and records how to reverse it. The record, with the removed entries, is written before
// the file changes, so that no entry is lost if the program ends in between.
func (c *Connection) ApplyRecorded(ctx context.Context, cfg *config.Config) error {
	connected := c.connectText
	if connected == nil {
		connected = c.plan.Text()
	}
	var steps []connectStep
	if !bytes.Equal(c.plan.Before(), connected) {
		steps = append(steps, connectStep{
			Client: c.Client.Name, File: c.File, Name: c.Path[len(c.Path)-1], What: stepConnect,
			SHA256: digest(connected), Undo: hosts.UndoOf(c.plan.Before(), connected),
		})
	}
	if len(c.removed) > 0 {
		now := c.plan.Text()
		steps = append(steps, connectStep{
			Client: c.Client.Name, File: c.File, What: stepRemove, SHA256: digest(now), Undo: hosts.UndoOf(connected, now), Pieces: c.removed,
		})
	}
	if err := updateLedger(ctx, cfg, func(l *connectLedger) error {
		l.Steps = append(l.Steps, steps...)
		return nil
	}); err != nil {
		return err
	}
	err := c.plan.Apply()
	if err == nil || len(steps) == 0 {
		return err
	}
	return errors.Join(err, updateLedger(context.WithoutCancel(ctx), cfg, func(l *connectLedger) error {
		for _, connected := range steps {
			if i := slices.IndexFunc(l.Steps, func(s connectStep) bool { return s.File == connected.File && s.SHA256 == connected.SHA256 }); i >= 0 {
				l.Steps = slices.Delete(l.Steps, i, i+1)
			}
		}
		return nil
	}))
}
