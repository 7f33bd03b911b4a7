package admin

import (
	"bytes"
	"cmp"
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

// step is one change that connect made to a client's file, as recorded in <state>/connect.json.
type connectStep struct {
	Client string        `json:"client"`
	File   string        `json:"file"`   // symbolic links resolved
	What   string        `json:"what"`   // connect or move
	SHA256 string        `json:"sha256"` // digest of the file after the step
	Undo   hosts.Undo    `json:"undo"`
	Pieces []hosts.Piece `json:"pieces,omitempty"` // removed entries
}

const (
	stepConnect = "connect"
	stepRemove  = "move"
)

// ledger is the content of connect.json: all steps, oldest first.
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

// Remove makes the change also remove those of the twins that are in the client's file. Twins in other files stay.
func (c *Connection) Remove(twins []Twin) error {
	if c.connectText == nil {
		c.connectText = c.plan.Text()
	}
	for _, t := range twins {
		if t.File != c.File || t.path == nil {
			continue
		}
		piece, err := c.plan.Remove(t.path)
		if err != nil {
			return err
		}
		c.pieces = append(c.pieces, piece)
	}
	c.Changed = c.plan.Changed()
	return nil
}

// Removed returns the names of the entries that the change removes.
func (c *Connection) Removed() []string { return pieceNames(c.pieces) }

func pieceNames(pieces []hosts.Piece) []string {
	out := []string{}
	for _, p := range pieces {
		out = append(out, p.Path[len(p.Path)-1])
	}
	return out
}

// ApplyNoted makes the change and records how to reverse it. The record, with the removed entries, is written before
// the file changes.
func (c *Connection) ApplyRecorded(ctx context.Context, cfg *config.Config) error {
	connectText := c.connectText
	if connectText == nil {
		connectText = c.plan.Text()
	}
	var steps []connectStep
	if !bytes.Equal(c.plan.Before(), connectText) {
		steps = append(steps, connectStep{c.Client.Name, c.File, stepConnect, digest(connectText), hosts.UndoOf(c.plan.Before(), connectText), nil})
	}
	if len(c.pieces) > 0 {
		now := c.plan.Text()
		steps = append(steps, connectStep{c.Client.Name, c.File, stepRemove, digest(now), hosts.UndoOf(connectText, now), c.pieces})
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
		for _, connectText := range steps {
			if i := slices.IndexFunc(l.Steps, func(s connectStep) bool { return s.File == connectText.File && s.SHA256 == connectText.SHA256 }); i >= 0 {
				l.Steps = slices.Delete(l.Steps, i, i+1)
			}
		}
		return nil
	}))
}

// Disconnected is what Disconnect did, or would do, to one file.
type Disconnected struct {
	File      string   `json:"file"`
	Removed   []string `json:"removed,omitempty"` // removed entries that start Collie
	Put       []string `json:"restored,omitempty"`
	NameTaken []string `json:"there,omitempty"` // entries that were not restored because the name is in use again
	Exact     bool     `json:"exact"`           // the file is byte for byte as it was before
	Deleted   bool     `json:"gone,omitempty"`  // connect had created the file, and it is deleted
}

// Disconnect reverses what connect did to a client's files. It returns a result for each changed file, none if there was
// nothing to do. If it fails, the results are those of the files changed before the failure, and the next call continues
// after them.
func Disconnect(ctx context.Context, cfg *config.Config, env config.Env, o DisconnectOptions) (done []Disconnected, err error) {
	h, err := hosts.FindClient(o.Client)
	if err != nil {
		return nil, err
	}
	var failed error // the steps done before it are recorded all the same
	err = updateLedger(ctx, cfg, func(l *connectLedger) error {
		files, err := o.files(h, env, l)
		if err != nil {
			return err
		}
		for _, file := range files {
			d, err := o.restore(h, file, l)
			if err != nil {
				failed = err
				break
			}
			if d != nil {
				done = append(done, *d)
			}
		}
		if o.Dry {
			return errDry
		}
		return nil
	})
	if errors.Is(err, errDry) {
		err = nil
	}
	if failed != nil && err != nil {
		err = errors.Join(failed, err)
	}
	return done, cmp.Or(err, failed)
}

// errDry ends the update of the ledger without writing it.
var errDry = errors.New("nothing is to be written")

// DisconnectOptions says what is reversed.
type DisconnectOptions struct {
	Client, Name, File   string
	Restore, Remove, Dry bool
}

// files returns the files of a client that may have to be changed.
func (o *DisconnectOptions) files(h hosts.Host, env config.Env, l *connectLedger) ([]string, error) {
	file := o.File
	if file == "" {
		var err error
		if file, err = h.File(systemOf(env, "")); err != nil {
			return nil, err
		}
	}
	files := []string{withoutLinks(file)}
	for _, s := range l.Steps {
		if s.Client == o.Client && o.File == "" && !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	return files, nil
}

// restore handles one file. It returns nil if there is nothing to do.
func (o *DisconnectOptions) restore(h hosts.Host, file string, l *connectLedger) (*Disconnected, error) {
	plan, err := h.Open(file)
	if err != nil {
		return nil, err
	}
	d := &Disconnected{File: plan.File, Exact: true}
	kept := slices.Clone(l.Steps)
	for i, s := range slices.Backward(kept) {

		if s.File != plan.File || s.Client != o.Client || s.What == stepRemove && !o.Restore || s.What == stepConnect && !o.Remove {
			continue
		}
		if err := d.reverse(&plan, s); err != nil {
			return nil, err
		}
		kept = slices.Delete(kept, i, i+1)
	}
	if o.Remove && plan.Text() != nil {
		if err := d.removeEntries(&plan, o.Name); err != nil {
			return nil, err
		}
	}
	d.Deleted = plan.Text() == nil && plan.Before() != nil
	if !plan.Changed() && len(kept) == len(l.Steps) {
		return nil, nil //nolint:nilnil // nothing to do
	}
	if o.Dry {
		return d, nil
	}
	if err := plan.Apply(); err != nil {
		return nil, err
	}
	l.Steps = kept
	return d, nil
}

// reverse reverses one step: byte for byte if nobody has changed the file since, else entry by entry. In the second
// case it leaves Collie's own entry to cut.
func (d *Disconnected) reverse(plan *hosts.Plan, s connectStep) error {
	if plan.Text() != nil && digest(plan.Text()) == s.SHA256 {
		text, err := s.Undo.Apply(plan.Text())
		if err != nil {
			return err
		}
		if s.What == stepConnect {
			d.removed(collieEntries(plan)...)
		}
		plan.Become(text)
		d.Put = append(d.Put, pieceNames(s.Pieces)...)
		return nil
	}
	d.Exact = d.Exact && len(s.Pieces) == 0
	for _, piece := range s.Pieces {
		ok, err := plan.Put(piece)
		if err != nil {
			return err
		}
		name := piece.Path[len(piece.Path)-1]
		if ok {
			d.Put = append(d.Put, name)
		} else {
			d.NameTaken = append(d.NameTaken, name)
		}
	}
	return nil
}

// gateways returns the names of the entries that start Collie.
func collieEntries(plan *hosts.Plan) (names []string) {
	found, err := plan.Servers()
	if err != nil {
		return nil
	}
	for _, f := range found {
		if f.Entry.IsGateway() && f.Project == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// cut removes the entries that start Collie: the one called name, or all of the user's own if name is empty.
func (d *Disconnected) removeEntries(plan *hosts.Plan, name string) error {
	found, err := plan.Servers()
	if err != nil {
		return err
	}
	for _, f := range found {
		if !f.Entry.IsGateway() || f.Path == nil || name != "" && f.Name != name {
			continue
		}
		if _, err := plan.Remove(f.Path); err != nil {
			return err
		}
		d.Exact = false
		d.removed(f.Name)
	}
	return nil
}

// removed notes names of entries, each once: several connects may have made an entry of one name.
func (d *Disconnected) removed(names ...string) {
	for _, name := range names {
		if !slices.Contains(d.Removed, name) {
			d.Removed = append(d.Removed, name)
		}
	}
}
