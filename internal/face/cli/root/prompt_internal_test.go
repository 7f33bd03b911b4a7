package root

import (
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/face/cli/output"
)

// An input of a server is asked with its options, and answered by one of them, by its number, or by free text.
func TestInput(t *testing.T) {
	t.Parallel()
	region := config.Input{ID: "region", Description: "地区", Options: []string{"eu", "us"}}
	if got, want := inputQuestion(region), "  1  eu\n  2  us\nregion, 地区: "; got != want {
		t.Errorf("question %q, want %q", got, want)
	}
	for line, want := range map[string]string{"eu\n": "eu", " 2 \r\n": "us", "3\n": "", "0": "", "asia\n": "", "\n": ""} {
		if got, ok := inputAnswer(region, line); got != want || ok != (want != "") {
			t.Errorf("%q says %q, %v", line, got, ok)
		}
	}
	if got, ok := inputAnswer(config.Input{ID: "k"}, " a b \n"); got != "a b" || !ok {
		t.Errorf("free text is %q, %v", got, ok)
	}
	p := &Program{In: strings.NewReader("x\n"), Output: output.Output{Err: &strings.Builder{}}}
	if _, ok := p.askInput(region); ok {
		t.Error("somebody was asked where there is no terminal")
	}
}
