package admin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/app"
	entryadmin "collie/internal/source/upstream/entry/admin"
)

// HiddenEntry masks secrets in each member of an entry and leaves references to variables readable.
func TestHiddenEntry(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, raw, want string }{
		{"nothing secret", `{"command":"npx","args":["-y","@a/b@1","/home/u"]}`, `{"args":["-y","@a/b@1","/home/u"],"command":"npx"}`},
		{
			"env", `{"command":"x","env":{"A":"1234","B":"${B}","C":"${C:-s3cret}","D":5,"E":null}}`,
			`{"command":"x","env":{"A":"***","B":"${B}","C":"***","D":"***","E":null}}`,
		},
		{
			"headers", `{"url":"https://x","headers":{"Authorization":"Bearer ${T}","X-Key":"abcdef","Y":"a${T}"}}`,
			`{"headers":{"Authorization":"Bearer ${T}","X-Key":"***","Y":"***"},"url":"https://x"}`,
		},
		{"headers as a list", `{"url":"u","headers":["X-Key: abcdef","Z: ${Z}"]}`, `{"headers":["X-Key: ***","Z: ${Z}"],"url":"u"}`},
		{"auth", `{"url":"u","auth":{"type":"basic","username":"me","password":"pw"}}`, `{"auth":{"password":"***","type":"basic","username":"***"},"url":"u"}`},
		{
			"oauth", `{"url":"u","auth":{"grantType":"client_credentials","clientId":"c","clientSecret":"pw","clientMetadataUrl":"https://h/c"}}`,
			`{"auth":{"clientId":"c","clientMetadataUrl":"https://h/c","clientSecret":"***","grantType":"client_credentials"},"url":"u"}`,
		},
		{"args", `{"command":"x","args":["--api-key","hunter2hunter2","--token=abcdefghij"]}`, `{"args":["--api-key","***","--token=***"],"command":"x"}`},
		{"url", `{"url":"https://me:geheimnis1@h/x"}`, `{"url":"https://***@h/x"}`},
		{"no object", `"x"`, `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(entryadmin.HiddenEntry("n", []byte(tt.raw), "/d", app.Redacted))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
