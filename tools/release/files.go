package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed install.sh
var installScript string

// This file makes the files of a release for people who install: a script, a Homebrew formula, a recipe for a container.

// installer returns the script that fetches an archive, checks its sum and installs the program.
func (r *release) installer() (string, error) {
	return strings.NewReplacer("@VERSION@", r.number, "@URL@", strings.TrimRight(r.url, "/")).Replace(installScript), nil
}

// formula returns the formula for Homebrew. It is empty if nothing was built for macOS or Linux.
func (r *release) formula() (string, error) {
	var b strings.Builder
	b.WriteString("class Collie < Formula\n  desc \"All your MCP servers and your notes behind one endpoint\"\n")
	fmt.Fprintf(&b, "  homepage %q\n  version %q\n  license \"Apache-2.0\"\n", r.address(""), r.number)
	some := false
	for _, system := range [][2]string{{"on_macos", "darwin"}, {"on_linux", "linux"}} {
		var inner strings.Builder
		for _, cpu := range [][2]string{{"on_arm", "arm64"}, {"on_intel", "amd64"}} {
			name := fmt.Sprintf("collie_%s_%s_%s.tar.gz", r.number, system[1], cpu[1])
			if sum, ok := r.sums[name]; ok {
				fmt.Fprintf(&inner, "    %s do\n      url %q\n      sha256 %q\n    end\n", cpu[0], r.address(name), sum)
			}
		}
		if inner.Len() > 0 {
			some = true
			fmt.Fprintf(&b, "\n  %s do\n%s  end\n", system[0], inner.String())
		}
	}
	b.WriteString(`
  def install
    bin.install "collie"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/collie.bash" => "collie"
    zsh_completion.install "completions/_collie"
    fish_completion.install "completions/collie.fish"
  end

  service do
    run [opt_bin/"collie", "serve"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/collie version")
  end
end
`)
	if !some {
		return "", nil
	}
	return b.String(), nil
}

// container returns a Containerfile for an image with the program. It is empty if nothing was built for Linux. MCP servers
// that need Node or Python need an image of their own with those in it.
func (r *release) container() (string, error) {
	var sums []string
	for _, goarch := range []string{"amd64", "arm64"} {
		name := fmt.Sprintf("collie_%s_linux_%s.tar.gz", r.number, goarch)
		if sum, ok := r.sums[name]; ok {
			sums = append(sums, sum+"  "+name)
		}
	}
	if len(sums) == 0 {
		return "", nil
	}
	return fmt.Sprintf(`# Build beside the archives of a release: podman build -t collie .
# Run:   podman run --rm -v collie:/data -p 127.0.0.1:7420:7420 collie
# Token: podman run --rm -v collie:/data collie token
FROM docker.io/library/debian:bookworm-slim
ARG TARGETARCH=amd64
COPY collie_%s_linux_${TARGETARCH}.tar.gz /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
 && cd /tmp && printf '%%s\n' %s | grep "_${TARGETARCH}.tar.gz$" | sha256sum -c - \
 && tar -xzf collie_*.tar.gz -C /usr/local/bin collie && rm collie_*.tar.gz \
 && useradd --uid 10001 --home-dir /data collie && mkdir -p /data && chown collie /data
USER 10001
VOLUME /data
ENV COLLIE_HOME=/data
EXPOSE 7420
ENTRYPOINT ["collie"]
CMD ["serve", "--http", "0.0.0.0:7420"]
`, r.number, "'"+strings.Join(sums, "' '")+"'"), nil
}
