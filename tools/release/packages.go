package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// unit is the systemd unit of a user service. The packages do not enable it; the user does: systemctl --user enable --now
// collie.
const unit = `[Unit]
Description=Collie, all your MCP servers behind one endpoint
StartLimitIntervalSec=120
StartLimitBurst=5

[Service]
ExecStart=/usr/bin/collie serve
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=20
UMask=0077

[Install]
WantedBy=default.target
`

// packages writes a .deb and a .rpm with the program, manual pages, completions, licences and the unit.
func (r *release) packages(goarch, binary string) error {
	if err := r.put("collie.service", []byte(unit)); err != nil {
		return err
	}
	var contents files.Contents
	add := func(source, destination string, mode os.FileMode) {
		contents = append(contents, &files.Content{
			Source: source, Destination: destination,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.mtime, Owner: "root", Group: "root"},
		})
	}
	add(binary, "/usr/bin/collie", 0o755)
	add(filepath.Join(r.stage, "collie.service"), "/usr/lib/systemd/user/collie.service", 0o644)
	for name, to := range map[string]string{
		"LICENSE": "/usr/share/doc/collie/copyright", "LICENSES.txt": "/usr/share/doc/collie/LICENSES.txt", "CHANGELOG.md": "/usr/share/doc/collie/CHANGELOG.md",
		"README.md": "/usr/share/doc/collie/README.md", "README.zh-CN.md": "/usr/share/doc/collie/README.zh-CN.md",
		"completions/collie.bash": "/usr/share/bash-completion/completions/collie",
		"completions/collie.fish": "/usr/share/fish/vendor_completions.d/collie.fish",
	} {
		add(filepath.Join(r.stage, filepath.FromSlash(name)), to, 0o644)
	}
	pages, err := os.ReadDir(filepath.Join(r.stage, "man"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		add(filepath.Join(r.stage, "man", page.Name()), "/usr/share/man/man1/"+page.Name(), 0o644)
	}
	for _, kind := range []string{"deb", "rpm"} {
		contents := slices.Clip(contents)
		zsh := "/usr/share/zsh/vendor-completions" // on Debian; other systems have site-functions
		if kind == "rpm" {
			zsh = "/usr/share/zsh/site-functions"
			// Because rpm removes only folders that a package names, those that a small system lacks are named.
			for _, dir := range []string{
				"/usr/lib/systemd/user", "/usr/share/doc/collie", "/usr/share/bash-completion", "/usr/share/bash-completion/completions",
				"/usr/share/fish", "/usr/share/fish/vendor_completions.d", "/usr/share/zsh", zsh,
			} {
				contents = append(contents, &files.Content{Destination: dir, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: r.mtime, Owner: "root", Group: "root"}})
			}
		}
		contents = append(contents, &files.Content{
			Source: filepath.Join(r.stage, "completions", "_collie"), Destination: zsh + "/_collie",
			FileInfo: &files.ContentFileInfo{Mode: 0o644, MTime: r.mtime, Owner: "root", Group: "root"},
		})
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "collie", Arch: goarch, Platform: "linux", Version: r.number, VersionSchema: "none", Release: "1", Section: "net", Priority: "optional",
			Maintainer: "The Collie authors <collie@localhost>", Description: "All your MCP servers and your notes behind one endpoint",
			License: "Apache-2.0", MTime: r.mtime,
			Overridables: nfpm.Overridables{Contents: contents, Recommends: []string{"ca-certificates"}, RPM: nfpm.RPM{BuildHost: "collie", Compression: "gzip"}},
		})
		if err := nfpm.PrepareForPackager(info, kind); err != nil {
			return err
		}
		packager, err := nfpm.Get(kind)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := packager.Package(info, &out); err != nil {
			return err
		}
		if err := r.write(packager.ConventionalFileName(info), out.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
