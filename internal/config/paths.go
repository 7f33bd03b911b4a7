package config

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
)

// This file finds the folders for settings, state, cache and data.

// FileName is the name of the settings file in the config folder.
const FileName = "collie.json"

// Paths are Collie's folders, all absolute. This package does not create them.
type Paths struct {
	Config string // files that people edit
	Cache  string // files that can be created again
	State  string // locks, keys, audit, logs
	Data   string // notes, conversations, counts of calls

	// ConfigFile is the default settings file in the folder Config.
	ConfigFile string
	// Home is the folder that holds all others, if one was set; else empty.
	Home string
}

// FindPaths returns the folders. home is the value of --home and may be empty; then COLLIE_HOME is used, and
// without that the system's XDG folders. In a home, Config is the folder itself and the others are
// subfolders.
func FindPaths(home string, env Env) (Paths, error) { return findPaths(home, env, runtime.GOOS) }

func findPaths(home string, env Env, goos string) (Paths, error) {
	if home == "" {
		home = env.Get("COLLIE_HOME")
	}
	var p Paths
	if home != "" {
		abs, err := filepath.Abs(home)
		if err != nil {
			return Paths{}, err
		}
		p = Paths{
			Home: abs, Config: abs,
			Cache: filepath.Join(abs, "cache"),
			State: filepath.Join(abs, "state"),
			Data:  filepath.Join(abs, "data"),
		}
	} else {
		base, err := systemFolders(env, goos)
		if err != nil {
			return Paths{}, err
		}
		p = base
	}
	p.ConfigFile = filepath.Join(p.Config, FileName)
	return p, nil
}

// systemFolders follows the XDG Base Directory specification 0.8, which says to ignore relative values. If no
// XDG variable is set, it follows the conventions of macOS and Windows.
func systemFolders(env Env, goos string) (Paths, error) {
	user := env.Get("HOME")
	config, cache, state, data := ".config", ".cache", ".local/state", ".local/share"
	switch goos {
	case "darwin":
		const support = "Library/Application Support"
		config, cache, state, data = support, "Library/Caches", support, support
	case "windows":
		user = env.First("USERPROFILE", "HOME")
		config, cache, state, data = "AppData/Roaming", "AppData/Local", "AppData/Local", "AppData/Local"
	}
	folder := func(envName, usual string, under ...string) string {
		if v := env.Get(envName); filepath.IsAbs(v) {
			return filepath.Join(v, "collie")
		}
		if user == "" {
			return ""
		}
		return filepath.Join(append([]string{user, filepath.FromSlash(usual), "collie"}, under...)...)
	}
	p := Paths{Config: folder("XDG_CONFIG_HOME", config), Data: folder("XDG_DATA_HOME", data)}
	switch goos {
	case "darwin", "windows": // these systems use one folder for several purposes
		p.State = folder("XDG_STATE_HOME", state, "state")
		p.Cache = folder("XDG_CACHE_HOME", cache, "cache")
	default:
		p.State = folder("XDG_STATE_HOME", state)
		p.Cache = folder("XDG_CACHE_HOME", cache)
	}
	if slices.Contains([]string{p.Config, p.Cache, p.State, p.Data}, "") {
		return Paths{}, errors.New("no home folder is known: set HOME, or name a folder with --home or COLLIE_HOME")
	}
	return p, nil
}

// in returns the path of a file in one of the folders.
func (Paths) in(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}
