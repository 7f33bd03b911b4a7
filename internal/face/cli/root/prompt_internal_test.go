package root

import (
	"strings"
	"testing"

	"collie/internal/config"
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
}

// In a line that is not shown, Backspace takes away a whole character, and nothing of an empty line.
func TestHiddenLine(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"secret\r": "secret", "密码\x7f钥\n": "密钥", "aé\x7f\x08\x7fb\r": "b", "wrong密\x15right\r": "right",
	} {
		if got, err := readHidden(strings.NewReader(typed)); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", typed, got, err, want)
		}
	}
}
