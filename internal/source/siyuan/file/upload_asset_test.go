package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestUploadAsset(t *testing.T) {
	w := newWorkspace(t)
	content := strings.Repeat("图 picture ", 10000)
	p := w.writeLocal("pictures/图 plan.png", content)
	got := w.Must(t, findAction(t, "upload_asset"), args("localFilePath", p))
	stored := got.Get("path").String()
	if !strings.HasPrefix(stored, "assets/图 plan-") || got.Get("uploadedFileName").String() != "图 plan.png" || got.Get("localFilePath").String() != p {
		t.Errorf("uploaded: %s", got.Raw)
	}
	raw, err := w.Client.ReadFile(t.Context(), "/data/"+stored)
	if err != nil || string(raw) != content {
		t.Errorf("stored %d bytes, %v", len(raw), err)
	}
	// The same file is not stored twice, whatever the folder.
	got = w.Must(t, findAction(t, "upload_asset"), args("localFilePath", "pictures/图 plan.png", "assetsDirPath", "assets/trip"))
	if got.Get("path").String() != stored {
		t.Errorf("uploaded: %s", got.Raw)
	}
	w.writeLocal("pictures/图 plan.png", "other")
	got = w.Must(t, findAction(t, "upload_asset"), args("localFilePath", "pictures/图 plan.png", "assetsDirPath", "assets/trip"))
	if !strings.HasPrefix(got.Get("path").String(), "assets/trip/图 plan-") {
		t.Errorf("uploaded: %s", got.Raw)
	}
	got = w.Must(t, findAction(t, "upload_asset"), args("file", w.writeLocal("empty.bin", "")))
	if !w.hasFile(got.Get("path").String()) {
		t.Errorf("uploaded: %s", got.Raw)
	}
	w.wantRefused("upload_asset", args("localFilePath", "nowhere.png"), tool.NotFound)
	w.wantRefused("upload_asset", args("localFilePath", "pictures"), tool.Invalid)
}

// TestUploadOverNone: a file whose name ends in an id must not overwrite the asset that has that name.
func TestUploadOverNone(t *testing.T) {
	w := newWorkspace(t).hideOther()
	for name, sent := range map[string]string{
		"CANARY-20240101120000-ddddddd.png":                        "CANARY.png",
		"CANARY_20240101120000-ddddddd.png":                        "CANARY.png",
		"CANARY-20240101120000-aaaaaaa-20240101120000-ddddddd.png": "CANARY.png",
		"CANARY-2024010112000#0-ddddddd.png":                       "CANARY-2024010112000#0-ddddddd-copy.png",
		"20240101120000-ddddddd.png":                               "asset.png",
		"plan 2024-01-01 (2).png":                                  "plan 2024-01-01 (2).png",
	} {
		got := w.Must(t, findAction(t, "upload_asset"), args("localFilePath", w.writeLocal(name, "over "+name)))
		if got.Get("uploadedFileName").Str != sent || got.Get("path").Str == otherAsset || !w.hasFile(got.Get("path").Str) {
			t.Errorf("%s: %s", name, got.Raw)
		}
	}
	if raw, err := w.Client.ReadFile(t.Context(), "/data/"+otherAsset); err != nil || string(raw) != "content of "+otherAsset {
		t.Errorf("an asset of a hidden notebook was written over: %q %v", raw, err)
	}
}

// TestUploadOddNames: the result has the path under which SiYuan stored the file, whatever its name was.
func TestUploadOddNames(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{"a b.png", "中文 😀.png", "a#b.png", "a%20b.png", "a&b=c.png", "it's.png", "(1)[2].png", "x.tar.gz", "noext", "a+b~c.png"} {
		got := w.Must(t, findAction(t, "upload_asset"), args("localFilePath", w.writeLocal(name, name)))
		if !w.hasFile(got.Get("path").Str) || got.Get("errFiles.#").Int() != 0 {
			t.Errorf("%s: %s", name, got.Raw)
		}
	}
}

// TestUploadLevels: an upload needs no level of any notebook.
func TestUploadLevels(t *testing.T) {
	w := newWorkspace(t)
	w.Default = access.None
	w.mustRun("upload_asset", args("localFilePath", w.writeLocal("x.png", "x")))
}

// TestUploadLocalFiles: only files below allowed folders can be uploaded, after following links; no hidden files and no
// keys; and none at all if local files are not allowed.
func TestUploadLocalFiles(t *testing.T) {
	w := newWorkspace(t)
	for _, name := range []string{
		".env", ".ssh/id.txt", "a/.git/config", "id_rsa", "ID_ED25519.pub", "server.pem", "tls.KEY", "vault.kdbx", "my credentials.txt", "passwords.csv",
		"cookies.sqlite", "Login Data", "wallet.dat", "prod.env", "secrets.yaml", "kubeconfig", "conf/conf.json", "20240101120000-abcdefg.sy", "token.json",
	} {
		w.wantRefused("upload_asset", args("localFilePath", w.writeLocal(name, "x")), kernel.InvalidPath)
	}
	outside := filepath.Join(t.TempDir(), "x.png")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	there := w.wantRefused("upload_asset", args("localFilePath", outside), kernel.InvalidPath)
	missing := w.wantRefused("upload_asset", args("localFilePath", outside+"2"), kernel.InvalidPath)
	actiontest.SameRefusal(t, there, missing, outside, outside+"2")

	w.writeLocal("keys/.hidden/a.txt", "x")
	w.writeLocal("plain.txt", "x")
	for link, to := range map[string]string{
		"out.png": outside, "outdir": filepath.Dir(outside), "hid.txt": filepath.Join(w.localDir, "keys/.hidden/a.txt"), "gone": filepath.Join(w.localDir, "gone2"),
	} {
		if err := os.Symlink(to, filepath.Join(w.localDir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	for _, p := range []string{"out.png", "outdir/x.png", "hid.txt", "gone"} {
		w.wantRefused("upload_asset", args("localFilePath", p), kernel.InvalidPath)
	}
	if err := os.Symlink("plain.txt", filepath.Join(w.localDir, "inside.txt")); err != nil {
		t.Fatal(err)
	}
	w.mustRun("upload_asset", args("localFilePath", "inside.txt")).wantMembers(args("uploadedFileName", "plain.txt"))

	w.Files = action.LocalFiles{Roots: []string{w.localDir}, Why: "the caller is on another machine"}
	if e := w.wantRefused("upload_asset", args("localFilePath", "plain.txt"), tool.Denied); !strings.Contains(e.Message, "another machine") {
		t.Errorf("does not say why: %v", e)
	}
	w.Files = action.LocalFiles{Allowed: true}
	w.wantRefused("upload_asset", args("localFilePath", "plain.txt"), tool.Denied)
}

func TestUploadSize(t *testing.T) {
	w := newWorkspace(t)
	w.Config.UploadMB = 1
	p := w.writeLocal("big.bin", strings.Repeat("x", 1<<20+1))
	w.ResetCalls()
	w.mustRun("upload_asset", args("localFilePath", p)).wantMembers(args("success", false, "requiresConfirmation", true, "reason", "file_too_large",
		"fileSizeBytes", 1<<20+1, "thresholdBytes", 1<<20, "thresholdMB", 1))
	if n := len(w.Calls()); n != 0 {
		t.Errorf("%d requests before anybody agreed", n)
	}
	w.mustRun("upload_asset", args("localFilePath", p, "confirmLargeFile", true)).wantMembers(args("success", true))
	w.Files.MaxUpload = 1 << 20
	w.wantRefused("upload_asset", args("localFilePath", p, "confirmLargeFile", true), tool.Invalid)
	w.Files.MaxUpload = 0 // the default
	if err := os.Truncate(p, 200<<20+1); err != nil {
		t.Fatal(err)
	}
	w.wantRefused("upload_asset", args("localFilePath", p, "confirmLargeFile", true), tool.Invalid)
}

func TestUploadFailures(t *testing.T) {
	w := newWorkspace(t)
	p := w.writeLocal("x.png", "x")
	for mode, want := range map[kerneltest.Mode]tool.ErrorKind{
		kerneltest.FailLost: kernel.OutcomeUnknown, kerneltest.FailAuth: tool.Unauthorized, kerneltest.FailServer: kernel.OutcomeUnknown,
		kerneltest.FailEmpty: kernel.NotInKernel, kerneltest.FailMessage("no"): kernel.API,
	} {
		w.Fail("/api/asset/upload", 1, mode)
		w.ResetCalls()
		w.Failed(t, findAction(t, "upload_asset"), args("localFilePath", p), want)
		if n := len(w.Calls()); n != 1 {
			t.Errorf("%s: %d requests, want 1: a write is never repeated", mode, n)
		}
	}
}
