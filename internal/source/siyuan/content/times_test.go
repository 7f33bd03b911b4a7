package content_test

import (
	"testing"

	"collie/internal/source/siyuan/content"
)

func TestRemoveTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n{: id=\"20240101000000-aaaaaaa\" updated=\"20240101000000\" memo=\"m\"}": "a\n{: id=\"20240101000000-aaaaaaa\" memo=\"m\"}",
		"- {: updated=\"20240101000000\" id=\"20240101000000-aaaaaaa\"}项":            "- {: id=\"20240101000000-aaaaaaa\"}项",
		"a\n{: updated=\"20240101000000\"}":                                          "a\n{: updated=\"20240101000000\"}",
		"```\n{: id=\"x\" updated=\"20240101000000\"}\n```":                          "```\n{: id=\"x\" updated=\"20240101000000\"}\n```",
		"`{: id=\"x\" updated=\"20240101000000\"}` updated=\"20240101000000\"":       "`{: id=\"x\" updated=\"20240101000000\"}` updated=\"20240101000000\"",
		"": "",
	} {
		if got := content.RemoveTimes(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
