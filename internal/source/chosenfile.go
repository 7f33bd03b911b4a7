package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/tool"
)

// This file keeps the chosen views in a file, so that the list of tools stays the same after a restart.

// chosenWait is the maximum wait for another process that is writing the file.
const chosenWait = 5 * time.Second

// ChosenFile stores the views that were chosen for servers in a file, which several processes may share.
type ChosenFile struct {
	file  atomicfile.File
	saves bool // false for commands that only read
	log   *slog.Logger
}

// chosenContent is the content of the file.
type chosenContent struct {
	Version  int               `json:"version"`
	Profiles map[string]Choice `json:"profiles"`
}

// NewChosenFile returns the choices in the file at path, which need not exist. If saves is false, nothing is written to it.
func NewChosenFile(path string, saves bool, log *slog.Logger) *ChosenFile {
	return &ChosenFile{atomicfile.File{Path: path}, saves, log}
}

// Load returns the stored choices; an unreadable file counts as empty.
func (v *ChosenFile) Load() map[string]Choice {
	raw, err := os.ReadFile(v.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var f chosenContent
	if err == nil {
		f, err = parseChosen(raw)
	}
	if err != nil {
		v.log.Warn("the views chosen for servers are chosen anew", "file", v.file.Path, "error", err)
	}
	return f.Profiles
}

func parseChosen(raw []byte) (chosenContent, error) {
	var f chosenContent
	if err := json.Unmarshal(raw, &f); err != nil {
		return chosenContent{}, err
	}
	if f.Version != 1 {
		return chosenContent{}, fmt.Errorf("version %d is not known", f.Version)
	}
	for _, c := range f.Profiles {
		for server, view := range c.Views {
			if !slices.Contains([]tool.View{tool.Flat, tool.Grouped, tool.Search}, view) {
				return chosenContent{}, fmt.Errorf("view %q of %q is not known", view, server)
			}
		}
	}
	return f, nil
}

// Save adds the choices of a profile. What is stored already for the same budget stays, also for the same servers.
func (v *ChosenFile) Save(profile string, c Choice) {
	if !v.saves {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), chosenWait)
	defer cancel()
	err := v.file.Update(ctx, func(old []byte) ([]byte, error) {
		f, err := parseChosen(old)
		if err != nil { // there is no file yet, or Load has reported what is wrong with it
			f = chosenContent{Version: 1, Profiles: map[string]Choice{}}
		}
		if f.Profiles == nil {
			f.Profiles = map[string]Choice{}
		}
		all := maps.Clone(c.Views)
		if there := f.Profiles[profile]; there.Budget == c.Budget {
			maps.Copy(all, there.Views)
		}
		f.Profiles[profile] = Choice{Budget: c.Budget, Views: all}
		return json.MarshalIndent(f, "", "  ")
	})
	if err != nil {
		v.log.Warn("the views chosen for servers are not kept", "file", v.file.Path, "error", err)
	}
}

// Clear deletes all choices.
func (v *ChosenFile) Clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), chosenWait)
	defer cancel()
	return v.file.Update(ctx, func([]byte) ([]byte, error) {
		return json.Marshal(chosenContent{Version: 1, Profiles: map[string]Choice{}})
	})
}
