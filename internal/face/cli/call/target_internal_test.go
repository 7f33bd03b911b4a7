package call

import (
	"os"
	"testing"

	"collie/internal/app"
	"collie/internal/config"
)

// A command that names a kernel does not use the running gateway, which may use another one. Only the tool
// "file" gets the working directory.
func TestChooseConnection(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	saved := `{"connections":{"a":{"url":"http://127.0.0.1:1"}}}`
	for _, tt := range []struct {
		words  []string
		flags  app.KernelFlags
		env    string
		raw    string
		local  bool
		folder bool
	}{
		{words: []string{"fs", "ls"}, raw: saved},
		{words: nil, raw: saved},
		{words: []string{"fs", "ls"}, flags: app.KernelFlags{URL: "http://k"}, local: true},
		{words: []string{"fake", "x"}, flags: app.KernelFlags{Connection: "a"}, local: true},
		{words: []string{"fs", "ls"}, env: "http://k", local: true},
		{words: nil, env: "http://k", local: true},
		{words: []string{"fake", "x"}, env: "http://k"},
		{words: []string{"file", "upload_asset"}, raw: saved, local: true, folder: true},
		{words: []string{"file/upload_asset"}, raw: saved, local: true, folder: true},
		{words: []string{"file", "read"}}, // a server's tool: no kernel is configured
		{words: []string{"filesystem", "read"}, raw: saved},
	} {
		p, _, _ := newProgram("")
		p.Env = config.EnvOf("SIYUAN_API_URL=" + tt.env)
		p.Kernel = tt.flags
		p.chooseConnection(&config.Config{SiYuan: config.SiYuan{Enabled: true, Raw: []byte(tt.raw)}}, tt.words)
		if p.Local != tt.local || (p.WorkDir == here) != tt.folder || p.WorkDir != "" && !tt.folder {
			t.Errorf("%v %+v env %q: local %t, folder %q", tt.words, tt.flags, tt.env, p.Local, p.WorkDir)
		}
	}
}
