package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
	"collie/internal/face/web"
	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// This file lets the pages change profiles. A change by which a client could do more needs a confirmation.

// Profiles returns all profiles.
func (a clientAPI) Profiles() []web.Profile {
	cfg, _, err := a.s.Settings()
	if err != nil {
		cfg = a.s.cfg
	}
	var out []web.Profile
	for _, name := range app.KnownProfiles(cfg) {
		one := web.Profile{Name: name}
		if p, own := cfg.Profiles[name]; own {
			one.Rules = &web.ProfileRules{
				Description: p.Description, View: p.View, Tools: web.NameFilter(p.Tools), Actions: web.NameFilter(p.Actions), Notebooks: p.Notebooks,
			}
		}
		out = append(out, one)
	}
	return out
}

// profileName matches the names that a page may give to a profile.
var profileName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// SaveProfile writes a profile into the settings. Members of the profile that pages do not show stay. If the change lets a
// client see or do more, typed must be the name, as the person typed it to confirm.
func (a clientAPI) SaveProfile(ctx context.Context, name, typed string, rules *web.ProfileRules) error {
	if !profileName.MatchString(name) {
		return &tool.Error{
			Op: "change profile", Kind: tool.Invalid, Subject: name, Message: "name: expected 1 to 64 letters, digits, dots, dashes and underlines, a letter or digit first",
		}
	}
	cfg, _, err := a.s.Settings()
	if err != nil {
		return err
	}
	now := config.Profile{
		View: rules.View, Tools: config.Filter(rules.Tools), Actions: config.Filter(rules.Actions), Notebooks: rules.Notebooks,
	}
	old, own := cfg.Profiles[name]
	if builtIn := !own && name != "default" && slices.Contains(app.KnownProfiles(cfg), name); (builtIn || (own || name == "default") && widens(&old, &now)) && typed != name {
		return unconfirmedProfile(name)
	}
	return a.editProfile(ctx, cfg, name, "config set", func(text []byte) (_ []byte, err error) {
		if !own {
			if text, err = config.Setting(config.Pointer("profiles", name), json.RawMessage(`{}`))(text); err != nil {
				return nil, err
			}
		}
		for _, one := range []struct {
			member string
			value  any
			empty  bool
		}{
			{"description", rules.Description, rules.Description == ""},
			{"view", rules.View, rules.View == ""},
			{"tools", rules.Tools, len(rules.Tools.Include)+len(rules.Tools.Exclude) == 0},
			{"actions", rules.Actions, len(rules.Actions.Include)+len(rules.Actions.Exclude) == 0},
			{"notebooks", rules.Notebooks, len(rules.Notebooks) == 0},
		} {
			found := false
			change := config.Unsetting(config.Pointer("profiles", name, one.member), &found)
			if !one.empty {
				value, err := json.Marshal(one.value)
				if err != nil {
					return nil, err
				}
				change = config.Setting(config.Pointer("profiles", name, one.member), value)
			}
			changed, err := change(text)
			switch {
			case err == nil:
				text = changed
			case !one.empty || !errors.Is(err, config.ErrNoSetting): // unsetting a member that is not set is fine
				return nil, err
			}
		}
		return text, nil
	})
}

// RemoveProfile removes a profile from the settings. Clients that name it then see nothing, or the built-in profile of
// the same name. typed must be the name, as the person typed it to confirm.
func (a clientAPI) RemoveProfile(ctx context.Context, name, typed string) error {
	cfg, _, err := a.s.Settings()
	if err != nil {
		return err
	}
	if _, own := cfg.Profiles[name]; !own {
		return &tool.Error{Op: "remove profile", Kind: tool.NotFound, Subject: name, Message: "the settings have no profile of that name"}
	}
	if typed != name {
		return unconfirmedProfile(name)
	}
	found := false
	return a.editProfile(ctx, cfg, name, "config unset", config.Unsetting(config.Pointer("profiles", name), &found))
}

// editProfile changes the settings file, records the change and returns once it is in effect.
func (a clientAPI) editProfile(ctx context.Context, cfg *config.Config, name, command string, change func([]byte) ([]byte, error)) error {
	file := root.SettingsFile(cfg)
	if err := cfg.Edit(ctx, file, change); err != nil {
		return refusedSettingError("profiles."+name, err)
	}
	a.s.OnRecord(ctx, cfg, command, map[string]any{"setting": "profiles", "name": name, "file": file})
	return a.reread(ctx)
}

// unconfirmedProfile returns the error for a change whose name was not typed.
func unconfirmedProfile(name string) error {
	return &tool.Error{
		Op: "change profile", Kind: tool.Unconfirmed, Subject: name, Message: "what clients with this profile see or may do changes; that is done when its name is typed", Hint: "type: " + name,
	}
}

// widens reports whether the new version of a profile lets a client see or do something that the present version does
// not.
func widens(old, now *config.Profile) bool {
	if letsThrough(&old.Tools, &now.Tools) || letsThrough(&old.Actions, &now.Actions) {
		return true
	}
	levels := []string{"none", "r", "rw", "rwd"}
	highest := func(p *config.Profile, id string) int {
		if level, ok := p.Notebooks[id]; ok {
			return slices.Index(levels, level)
		}
		if level, ok := p.Notebooks["*"]; ok {
			return slices.Index(levels, level)
		}
		return len(levels) - 1
	}
	for _, all := range []map[string]string{{"*": ""}, old.Notebooks, now.Notebooks} {
		for id := range all {
			if highest(now, id) > highest(old, id) {
				return true
			}
		}
	}
	return false
}

// letsThrough reports whether the filter now may let a name through that the filter old does not.
func letsThrough(old, now *config.Filter) bool {
	missing := func(from, in []string) bool {
		return slices.ContainsFunc(from, func(s string) bool { return !slices.Contains(in, s) })
	}
	return len(old.Include) > 0 && (len(now.Include) == 0 || missing(now.Include, old.Include)) || missing(old.Exclude, now.Exclude)
}
