package app

import (
	"testing"

	"collie/internal/config"
	"collie/internal/source/siyuan/access"
)

// A profile has its own levels in every view. Built-in profiles have those of the default one. An unknown
// profile may read nothing.
func TestCeilings(t *testing.T) {
	t.Parallel()
	const id = "20240101120000-abcdefg"
	const other = "20240101120000-zzzzzzz"
	cfg := &config.Config{SiYuan: config.SiYuan{Enabled: true}, Profiles: map[string]config.Profile{
		"default":   {Notebooks: map[string]string{id: "r"}},
		"open":      {},
		"work":      {Notebooks: map[string]string{id: "none", "*": "rw"}},
		"only":      {Notebooks: map[string]string{id: "rw", "*": "none"}},
		"work@flat": {Notebooks: map[string]string{id: "rw"}},
		"odd":       {Notebooks: map[string]string{id: "all"}},
		"minimal":   {Notebooks: map[string]string{id: "rw"}},
	}}
	n := &Notes{}
	set := ceilings(cfg)
	n.ceilings.Store(&set)
	for profile, want := range map[string][2]access.Level{
		"": {access.Read, access.Delete}, "default": {access.Read, access.Delete}, "@flat": {access.Read, access.Delete},
		"default@search": {access.Read, access.Delete}, "core": {access.Read, access.Delete}, "core@grouped": {access.Read, access.Delete},
		"open": {access.Delete, access.Delete}, "open@flat": {access.Delete, access.Delete},
		"work": {access.None, access.Write}, "work@grouped": {access.None, access.Write}, "work@search@grouped": {access.None, access.Write},
		"only": {access.Write, access.None}, "work@flat": {access.Write, access.Delete}, "work@flat@flat": {access.Write, access.Delete},
		"odd": {access.None, access.Delete}, "minimal": {access.Write, access.Delete},
		"gone": {}, "gone@flat": {}, "work@auto": {}, "work@": {}, "Work": {}, "\x00": {}, "open ": {},
	} {
		s := access.NewSnapshot(nil, access.Delete, nil).Under(n.ceiling(profile))
		if got := [2]access.Level{s.Of(id), s.Of(other)}; got != want {
			t.Errorf("%q allows %v, want %v", profile, got, want)
		}
	}
}
