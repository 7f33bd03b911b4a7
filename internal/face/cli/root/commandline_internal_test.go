package root

import (
	"testing"
)

// Calls in the notation for models become command lines, and everything else stays.
func TestWithCommandLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`fs(action="ls", path="/") shows what there is`:                   `collie fs ls --path / shows what there is`,
		`notebook(action="list") shows the notebooks`:                     `collie notebook list shows the notebooks`,
		`document(action="lookup") and fs(action="ls", path="/工作 1")`:     `collie document lookup and collie fs ls --path '/工作 1'`,
		`block(action="get_children", pageSize=5, deep=true, flat=false)`: `collie block get_children --page-size 5 --deep --no-flat`,
		`av(action="add_rows", blockIDs=["a","b"])`:                       `collie av add_rows --block-ids-json '["a","b"]'`,
		`fs(action="help", topic="ls")`:                                   `collie tools fs ls`,
		`fs(action="help")`:                                               `collie tools fs`,
		`fs(action="mv", from=…, to=…)`:                                   `collie fs mv --from '…' --to '…'`,
		`see siyuan://help/action/fs/read`:                                `see collie tools fs read`,
		`see siyuan://help/write-safety`:                                  `see siyuan://help/write-safety`,
		`other(action="ls")`:                                              `other(action="ls")`,
		`fs(action="ls", path="/`:                                         `fs(action="ls", path="/`,
		`f(x) (action=)`:                                                  `f(x) (action=)`,
	} {
		if got := WithCommandLines(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// WithCommandLines ends for any text, and leaves a text without calls and help pages unchanged.
func FuzzWithCommandLines(f *testing.F) {
	f.Add(`fs(action="ls", path="/") x`)
	f.Add(`fs(action="ls", path="/`)
	f.Add(`fs(action="ls"fs(action="ls")`)
	f.Fuzz(func(t *testing.T, text string) {
		got := WithCommandLines(text)
		if !callPattern.MatchString(text) && !pagePattern.MatchString(text) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
