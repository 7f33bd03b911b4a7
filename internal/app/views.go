package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/config"
	"collie/internal/source"
	"collie/internal/tool"
)

// viewsWait is the maximum wait for another process that is writing the file.
const viewsWait = 5 * time.Second

// chosenViews stores the views that were chosen for servers, in <state>/views.json.
type chosenViews struct {
	file  atomicfile.File
	saves bool // false for commands that only read
	log   *slog.Logger
}

// viewsFile is the content of that file.
type viewsFile struct {
	Version  int                      `json:"version"`
	Profiles map[string]source.Choice `json:"profiles"`
}

func newChosenViews(cfg *config.Config, saves bool, log *slog.Logger) *chosenViews {
	return &chosenViews{atomicfile.File{Path: filepath.Join(cfg.Paths.State, "views.json")}, saves, log}
}

// Load returns the stored choices; an unreadable file counts as empty.
func (v *chosenViews) Load() map[string]source.Choice {
	raw, err := os.ReadFile(v.file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var f viewsFile
	if err == nil {
		f, err = parseViews(raw)
	}
	if err != nil {
		v.log.Warn("the views chosen for servers are chosen anew", "file", v.file.Path, "error", err)
	}
	return f.Profiles
}

func parseViews(raw []byte) (viewsFile, error) {
	var f viewsFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return viewsFile{}, err
	}
	if f.Version != 1 {
		return viewsFile{}, fmt.Errorf("version %d is not known", f.Version)
	}
	for _, c := range f.Profiles {
		for server, view := range c.Views {
			if !slices.Contains([]tool.View{tool.Flat, tool.Grouped, tool.Search}, view) {
				return viewsFile{}, fmt.Errorf("view %q of %q is not known", view, server)
			}
		}
	}
	return f, nil
}

// Save adds the choices of a profile. It keeps those that other processes have made for other servers.
func (v *chosenViews) Save(profile string, c source.Choice) {
	if !v.saves {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), viewsWait)
	defer cancel()
	err := v.file.Update(ctx, func(old []byte) ([]byte, error) {
		f, err := parseViews(old)
		if err != nil { // there is no file yet, or Load has reported what is wrong with it
			f = viewsFile{Version: 1, Profiles: map[string]source.Choice{}}
		}
		if f.Profiles == nil {
			f.Profiles = map[string]source.Choice{}
		}
		all := maps.Clone(c.Views)
		if there := f.Profiles[profile]; there.Budget == c.Budget {
			maps.Copy(all, there.Views)
		}
		f.Profiles[profile] = source.Choice{Budget: c.Budget, Views: all}
		return json.MarshalIndent(f, "", "  ")
	})
	if err != nil {
		v.log.Warn("the views chosen for servers are not kept", "file", v.file.Path, "error", err)
	}
}

// Clear deletes all choices.
func (v *chosenViews) Clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), viewsWait)
	defer cancel()
	return v.file.Update(ctx, func([]byte) ([]byte, error) {
		return json.Marshal(viewsFile{Version: 1, Profiles: map[string]source.Choice{}})
	})
}
