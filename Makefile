# What a newcomer needs: make run, make test. `make help` lists the rest.

# Nothing needs cgo but the race detector. With one setting for the program, its tests and what reads its packages, each of them
# finds in the build cache what another has compiled.
build test flake stories clean-tree lint cross conformance clients: export CGO_ENABLED = 0

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 20s
SOAKTIME ?= 1h
# What no call of a server passes, the terminal, and of notes import, databases, templates and the tools, whose calls spend their
# time in the kernel or the vault: without inlining there the binary is 2 MB smaller.
COLD      = charm.land github.com/88250/lute github.com/atotto github.com/charmbracelet github.com/ebitengine \
            github.com/fsnotify github.com/gdamore github.com/goccy github.com/godbus github.com/modelcontextprotocol \
            github.com/nats-io github.com/nats-io/nkeys github.com/pelletier github.com/rivo \
            github.com/santhosh-tekuri/jsonschema/v6/kind github.com/segmentio github.com/shirou github.com/spf13 \
            github.com/tailscale github.com/yuin go.yaml.in crypto/tls golang.org/x/crypto/ssh golang.org/x/oauth2 \
            golang.org/x/text/encoding golang.org/x/text/message collie/internal/agent collie/internal/app \
            collie/internal/chat/transcript collie/internal/config collie/internal/face/cli \
            collie/internal/face/httpserver/tokens collie/internal/face/web collie/internal/llm/admin collie/internal/llm/models \
            collie/internal/pipeline/audit/admin collie/internal/pipeline/firewall/admin \
            collie/internal/pipeline/gate/grant/admin collie/internal/secret collie/internal/source/siyuan \
            collie/internal/source/upstream/admin collie/internal/source/upstream/entry collie/internal/source/upstream/hosts \
            collie/internal/source/upstream/registry collie/internal/source/upstream/signin \
            collie/internal/source/upstream/toolcache collie/internal/store collie/internal/vault/admin collie/internal/vault/av \
            collie/internal/vault/folder collie/internal/vault/salvage collie/internal/vault/template
SMALL     = $(foreach p,$(COLD),-gcflags='$(p)/...=-l')
# SQLite keeps its memory outside of Go's, where the race detector sees nothing, and needs four times as long under it: only
# what calls SQLite is watched.
RACE      = -race $(foreach p,modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory,-gcflags=$(p)=-race=false)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help build release release-check run test clean-tree flake cover size stories soak crash clients sdkcompat conformance catalogs live real bench bench-compare fuzz lint vuln cross pages site clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

build: ## bin/collie, static and stripped
	@echo "building bin/collie $(VERSION)"
	@go build -trimpath $(SMALL) -ldflags "-s -w -X main.version=$(VERSION)" -o bin/collie ./cmd/collie

# RELEASES is the address that the files will lie at, for install.sh, the formula and the manifest.
release: ## dist/: archives, .deb, .rpm, checksums, bills of materials, installer, formula and manifest for PLATFORMS; the same commit makes the same bytes
	rm -rf dist
	go -C tools/release test .
	go -C tools/release build -o $(CURDIR)/bin/release .
	bin/release -version '$(VERSION)' -epoch $$(git log -1 --format=%ct) -url '$(RELEASES)' -platforms '$(PLATFORMS)' -- $(SMALL)

release-check: ## install, use, upgrade and remove what is in dist/ in a bare Debian without Go or Node; needs root and debootstrap
	sh tools/release/check.sh

run: build ## serve your notes, and the example servers if Node is here
	@if command -v npx >/dev/null; then echo "Node is here: serving your notes and examples/mcp-servers.json"; exec bin/collie serve --config examples/mcp-servers.json; \
	else echo "No Node here, so the example servers cannot run: serving your notes"; exec bin/collie serve; fi

# Test programs wait more than they compute, so more of them run at once than there are cores;
# they share one Collie, and do not sleep a second at their end, as the race detector has them do. Vet looks at everything
# once; by package and under the race detector it takes as long again.
test: ## format, vet, and all tests, those with goroutines below them under the race detector; 15 minutes on two cores, a third of which compiles; needs a C compiler
	@test -z "$$(gofmt -l *.go cmd internal test)" || { gofmt -d *.go cmd internal test; exit 1; }
	go -C tools test ./site
	go build -o bin/test/ ./cmd/collie
	go vet ./...
	which=$$(go run ./test/raced -not) && COLLIE_BINARY=$(CURDIR)/bin/test/collie go test -vet=off -shuffle=on -timeout 10m $$which
	which=$$(go run ./test/raced) && CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 COLLIE_BINARY=$(CURDIR)/bin/test/collie go test $(RACE) -vet=off -shuffle=on -p 3 -timeout 10m $$which

ROUNDS ?= 20
flake: ## the tests with goroutines ROUNDS times under the race detector on a busy machine, PACKAGES=… for some; hours for all; needs a C compiler
	go build -o bin/test/ ./cmd/collie
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 COLLIE_BINARY=$(CURDIR)/bin/test/collie go run ./test/flake -rounds $(ROUNDS) -- $(RACE) $(or $(PACKAGES),$$(go run ./test/raced))

cover: ## how much of each package its tests run, and bin/cover.html; PACKAGES=… for some
	@mkdir -p bin
	go test -cover -coverprofile bin/cover.out $(or $(PACKAGES),./internal/...)
	go tool cover -html bin/cover.out -o bin/cover.html
	@go tool cover -func bin/cover.out | tail -n 1

size: ## lines of code a package; OLD=REVISION compares with it
	go run ./test/size $(if $(OLD),-old '$(OLD)')

# Two packages at once, since most of them wait for others. What a package prints comes when it ends.
stories: ## the whole program against real servers and clients, at most 20 minutes; needs npm
	go vet ./... && go vet -tags stories,live ./test/...
	go build -o bin/test/ ./cmd/collie
	which=$$(go run ./test/tagged stories) && COLLIE_BINARY=$(CURDIR)/bin/test/collie go test -vet=off -tags stories -count=1 -v -p 2 -timeout 20m $$which
	which=$$(go run ./test/tagged -other stories) && COLLIE_BINARY=$(CURDIR)/bin/test/collie go test -vet=off -tags stories -count=1 -v -p 2 -timeout 20m $$which
	GOOS=windows GOARCH=arm64 go build -o /dev/null ./cmd/collie

soak: ## one gateway, thirty servers, two hundred clients, and chaos for SOAKTIME
	go test -count=1 -v -timeout 0 -run '^TestSoak$$' ./test/soak -args -for $(SOAKTIME)

crash: ## kill processes that write into a vault, or have a model work, many hundred times, and look for what they acknowledged
	go test -count=1 -v -timeout 0 -run 'Killed|Survivor' ./test/vault -args -rounds 500
	go test -count=1 -v -timeout 0 -run Killed ./internal/chat -args -kills 200
	go test -count=1 -v -timeout 0 -run Killed ./test/agent -args -kills 50

clients: ## the clients that people use, from npm, in more ways than the stories
	go test -tags stories -count=1 -v -timeout 10m ./test/clients -args -full

sdkcompat: ## the fake model provider, as the official SDKs understand it; the first time they take minutes to build
	go -C test/sdkcompat vet ./... && go -C test/sdkcompat test -count=1 -v -timeout 10m ./...

conformance: ## the official conformance suites, in more ways than the stories
	go test -tags stories -count=1 -v -timeout 10m ./test/conformance -args -full

pages: ## build the pages in the browser and the panel for SiYuan anew from web/, after a change there; needs Node 20 and npm
	npm ci --prefix web --no-audit --no-fund
	npm run --silent --prefix web check && npm run --silent --prefix web build
	go -C tools run ./pack ../web/dist ../internal/face/pages/pages.zip
	go -C tools run ./pack ../web/dist-panel ../internal/source/siyuan/panel/panel.zip

site: ## bin/site: the guides, the reference and the API as static pages in English and Chinese, with a search
	@go -C tools run ./site -root .. -out '$(CURDIR)/bin/site' -version '$(VERSION)'

catalogs: ## record again what the public servers of test/catalogs list; needs npm
	npm ci --prefix test/catalogs --ignore-scripts --no-audit --no-fund
	cd test/catalogs && go run ./record

live: ## work in a notebook of its own at the SiYuan that SIYUAN_API_URL and SIYUAN_TOKEN name
	go test -tags live -count=1 -v -timeout 10m ./test/live

real: ## the tests of the tools at a SiYuan with an EMPTY workspace, COLLIE_TEST_KERNEL=http://token@127.0.0.1:6806; half an hour
	@test -n "$$COLLIE_TEST_KERNEL" || { echo "set COLLIE_TEST_KERNEL=http://token@host:port; all that the workspace gets is removed again"; exit 1; }
	go test -count=1 -p 1 -parallel 1 -timeout 60m ./internal/source/siyuan/...

bench: build ## measure against the budgets and write bench/RESULTS.md
	go run ./test/bench -collie bin/collie -out bench/RESULTS.md

bench-compare: ## is NEW slower or dearer than OLD? each a program or a git revision; JSON=FILE for the figures; a quiet machine, 2 minutes
	@test -n "$(OLD)" -a -n "$(NEW)" || { echo "make bench-compare OLD=v1.0.0 NEW=bin/collie"; exit 1; }
	go run ./test/bench compare -old '$(OLD)' -new '$(NEW)' $(if $(JSON),-json '$(JSON)')

fuzz: ## every fuzz test for FUZZTIME, and the firewall beside real shells
	@grep -rnoE '^func Fuzz\w+' --include='*_test.go' internal | sed -E 's|^(.*)/[^/]+:[0-9]+:func (.*)|\1 \2|' | \
	while read -r dir name; do go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) "./$$dir" || exit 1; done
	go test -count=1 -timeout 0 -run ShellsAgree ./internal/pipeline/firewall -args -scripts 400000

lint: ## golangci-lint, built from tools/lint; takes a minute the first time
	go -C tools/lint build -o $(CURDIR)/bin/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./... && bin/golangci-lint fmt --diff
	cd tools && $(CURDIR)/bin/golangci-lint run ./... && cd release && $(CURDIR)/bin/golangci-lint run ./...

clean-tree: ## is what go mod tidy and go generate make what is committed?
	go mod tidy -diff && go -C tools mod tidy -diff && go -C tools/lint mod tidy -diff && go -C tools/release mod tidy -diff
	go generate ./... && git diff --exit-code

vuln: ## known vulnerabilities in what we import; asks vuln.go.dev
	go -C tools/lint build -o $(CURDIR)/bin/ golang.org/x/vuln/cmd/govulncheck && bin/govulncheck ./...

cross: ## vet and build for the other platforms
	@for p in $(PLATFORMS); do echo "$$p"; export GOOS=$${p%/*} GOARCH=$${p#*/}; \
	go vet ./... && go build -o /dev/null ./cmd/collie || exit 1; done

clean: ## what the targets above made
	rm -rf bin dist test/conformance/node_modules test/clients/node_modules test/acp/node_modules web/node_modules
