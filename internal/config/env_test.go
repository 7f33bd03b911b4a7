package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

func TestEnv(t *testing.T) {
	t.Setenv("COLLIE_TEST", "yes")
	if v, ok := config.FromOS().Lookup("COLLIE_TEST"); !ok || v != "yes" {
		t.Errorf("COLLIE_TEST is %q, %v", v, ok)
	}
	var none config.Env
	if _, ok := none.Lookup("HOME"); ok || none.List() != nil {
		t.Error("the zero Env is not empty")
	}
	e := config.EnvOf("A=1=2", "A=3", "B=")
	if v, ok := e.Lookup("B"); v != "" || !ok {
		t.Errorf("B is %q, %v", v, ok)
	}
	if got := e.First("C", "B", "A"); got != "3" {
		t.Errorf("first is %q, want 3", got)
	}
	if diff := cmp.Diff([]string{"A=1=2", "A=3", "B="}, e.List()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{"30s": 30 * time.Second, "1.5h": 90 * time.Minute, "30d": 720 * time.Hour, "0": 0, "0s": 0} {
		if got, err := config.ParseDuration(in); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "30", "1.5", "-1s", "d", "-1d", "9999999999d", "1 s", "0x10", "Inf"} {
		if got, err := config.ParseDuration(in); err == nil {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
	for in, want := range map[string]int64{"4096": 4096, "16MiB": 16 << 20, "16 MiB": 16 << 20, "2KB": 2000, "1GiB": 1 << 30, "7B": 7} {
		if got, err := config.ParseSize(in); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "1.5MiB", "1TB", "9223372036GiB", "1MiB2"} {
		if got, err := config.ParseSize(in); err == nil {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
}
