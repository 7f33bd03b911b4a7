package kerneltest_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/kernel/kerneltest"
)

// TestPluginsMeetRecordings sends the recorded requests and compares the answers.
func TestPluginsMeetRecordings(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.Lenient() // the recorded requests that fail are not legal
	k.File("/data/plugins/rec-plugin/plugin.json", []byte(`{"name":"rec-plugin"}`))
	rows := 0
	for _, row := range kerneltest.Recordings(t) {
		if row.Endpoint() != "/api/petal/setPetalEnabled" {
			continue
		}
		rows++
		_, got := post(t, k, row.Endpoint(), string(row.ReqBody))
		for _, member := range []string{"code", "msg", "data.name", "data.enabled"} {
			if want := gjson.GetBytes(row.RespBody, member).Raw; got.Get(member).Raw != want {
				t.Errorf("%s: %s is %s, recorded %s", row.Step, member, got.Get(member).Raw, want)
			}
		}
	}
	if on := k.Plugins(); rows != 4 || len(on) != 1 || on["rec-plugin"] {
		t.Errorf("%d rows; %v", rows, on)
	}
}
