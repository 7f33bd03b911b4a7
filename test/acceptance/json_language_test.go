package acceptance_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"collie/internal/face/cli"
	"collie/test/gateway"
)

// What commands print with --json is the same in every language: no command that only reads, and needs no argument, prints
// Chinese in a Chinese locale that it does not print in an English one, with a gateway and without.
func TestJSONIsInNoLanguage(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{{Name: "one"}}, `"siyuan":{}`)
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	for name, home := range map[string]string{"with a gateway": g.Home, "without": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checked := 0
			for _, c := range cli.Commands() {
				if c.Class != cli.ClassRead {
					continue
				}
				args := append(strings.Fields(c.Path), "--json", "--config", settings)
				out := runIn(t, p, "zh_CN.UTF-8", home, args)
				if !strings.HasPrefix(out, "{") && !strings.HasPrefix(out, "[") {
					continue // the help of a group of commands
				}
				checked++
				chinese := han(out)
				if chinese == "" {
					continue
				}
				if english := han(runIn(t, p, "C", home, args)); chinese != english {
					t.Errorf("collie %s --json has %q in a Chinese locale, and %q in an English one", c.Path, chinese, english)
				}
			}
			if checked < 30 {
				t.Errorf("only %d commands were tried", checked)
			}
		})
	}
}

// runIn runs a command in a locale and returns its output.
func runIn(t *testing.T, p gateway.Programs, locale, home string, args []string) string {
	t.Helper()
	p.Env = append(slices.Clip(p.Env), "LC_ALL="+locale)
	stdout, _, _ := p.Run(t, home, args...)
	return stdout
}

// han returns the Chinese characters of a text.
func han(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Han, r) {
			return r
		}
		return -1
	}, text)
}
