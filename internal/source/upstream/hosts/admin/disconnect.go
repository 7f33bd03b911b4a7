package admin

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"collie/internal/config"
	"collie/internal/source/upstream/hosts"
	"collie/internal/tool"
)

// This file takes back what connecting a client has changed in its files.

// Disconnected is what Disconnect did, or would do, to one file.
type Disconnected struct {
	File      string   `json:"file"`
	Removed   []string `json:"removed,omitempty"` // removed entries that start Collie
	Restored  []string `json:"restored,omitempty"`
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
	var failed error // kept apart, so that the steps before it are recorded
	err = updateLedger(ctx, cfg, func(l *connectLedger) error {
		files, err := o.files(h, env, l)
		if err != nil {
			return err
		}
		for _, file := range files {
			d, err := o.disconnectFile(h, file, l)
			if err != nil {
				failed = err
				break
			}
			if d != nil {
				done = append(done, *d)
			}
		}
		failed = cmp.Or(failed, o.unknownPlace(l))
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
	Client  string // name of the client
	Name    string // the entry that Remove removes; empty: all that start Collie
	File    string // file to change; empty: all that connect changed, and the client's own file of the user
	Restore bool   // put back the entries that connect removed
	Remove  bool   // remove Collie's entries
	Dry     bool   // only report what would be done
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
		if s.Client != o.Client || o.File != "" || !filepath.IsAbs(s.File) {
			continue
		}
		if real := withoutLinks(s.File); !slices.Contains(files, real) {
			files = append(files, real)
		}
	}
	return files, nil
}

// unknownPlace returns an error if a step is about a file whose folder is not on record. Nothing is done about it then: in the
// folder that this runs in there may be another file of that name.
func (o *DisconnectOptions) unknownPlace(l *connectLedger) error {
	for _, s := range l.Steps {
		if s.Client == o.Client && o.File == "" && !filepath.IsAbs(s.File) {
			return &tool.Error{
				Op: "connect", Kind: tool.Invalid, Subject: s.File,
				Message: "what was changed in it is on record without its folder, so nobody knows which file that is",
				Hint:    "in its folder run: collie connect " + o.Client + " --restore --file " + s.File,
			}
		}
	}
	return nil
}

// disconnectFile reverses the recorded steps of one file and removes Collie's entries, as far as o asks. It returns nil if there is
// nothing to do.
func (o *DisconnectOptions) disconnectFile(h hosts.Host, file string, l *connectLedger) (*Disconnected, error) {
	plan, err := h.Open(file)
	if err != nil {
		return nil, err
	}
	d := &Disconnected{File: plan.File, Exact: true}
	remaining := slices.Clone(l.Steps)
	for i, s := range slices.Backward(remaining) {
		same := SameFile(s.File, plan.File) || o.File != "" && SameFile(s.File, o.File)
		if !same || s.Client != o.Client || s.What == stepRemove && !o.Restore || s.What == stepConnect && (!o.Remove || o.Name != "" && s.Name != o.Name) {
			continue
		}
		if err := d.reverse(&plan, s); err != nil {
			return nil, err
		}
		remaining = slices.Delete(remaining, i, i+1)
	}
	if o.Remove && plan.Text() != nil {
		if err := d.removeEntries(&plan, o.Name); err != nil {
			return nil, err
		}
	}
	d.Deleted = plan.Text() == nil && plan.Before() != nil
	if !plan.Changed() && len(remaining) == len(l.Steps) {
		return nil, nil //nolint:nilnil // nothing to do
	}
	if o.Dry {
		return d, nil
	}
	if err := plan.Apply(); err != nil {
		return nil, err
	}
	l.Steps = remaining
	return d, nil
}

// reverse reverses one step: byte for byte if nobody has changed the file since, else entry by entry. In the second
// case Collie's own entry stays; removeEntries removes it.
func (d *Disconnected) reverse(plan *hosts.Plan, s connectStep) error {
	if plan.Text() != nil && digest(plan.Text()) == s.SHA256 {
		text, err := s.Undo.Apply(plan.Text())
		if err != nil {
			return err
		}
		had := collieEntries(plan)
		plan.Become(text)
		if s.What == stepConnect {
			left := collieEntries(plan)
			d.addRemoved(slices.DeleteFunc(had, func(name string) bool { return slices.Contains(left, name) })...)
		}
		d.Restored = append(d.Restored, pieceNames(s.Pieces)...)
		return nil
	}
	d.Exact = false
	for _, piece := range s.Pieces {
		ok, err := plan.Put(piece)
		if err != nil {
			return err
		}
		name := piece.Path[len(piece.Path)-1]
		if ok {
			d.Restored = append(d.Restored, name)
		} else {
			d.NameTaken = append(d.NameTaken, name)
		}
	}
	return nil
}

// collieEntries returns the names of the entries that start Collie.
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

// removeEntries removes the entries that start Collie: the one called name, or all of the user's own if name is empty.
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
		d.addRemoved(f.Name)
	}
	return nil
}

// addRemoved notes names of entries, each once: several connects may have made an entry of one name.
func (d *Disconnected) addRemoved(names ...string) {
	for _, name := range names {
		if !slices.Contains(d.Removed, name) {
			d.Removed = append(d.Removed, name)
		}
	}
}
