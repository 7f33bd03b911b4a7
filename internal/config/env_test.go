package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
)

// An Env has the last value of a variable, and the zero Env none.
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
