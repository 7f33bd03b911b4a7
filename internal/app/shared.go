package app

import (
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"

	"collie/internal/config"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/source/upstream/toolcache/dirstore"
	"collie/internal/source/upstream/toolcache/httpstore"
	"collie/internal/source/upstream/toolcache/natsstore"
	"collie/internal/tool"
)

// openShared returns the place that cache.shared names, which several gateways use: a file or a
// folder, another Collie, or NATS JetStream. Nil is none.
func openShared(cfg *config.Config, log *slog.Logger) (toolcache.Backend, error) {
	where := cfg.Cache.Shared
	switch where {
	case "":
		return nil, nil //nolint:nilnil // none is an answer
	case serveShared:
		return toolcache.NewFile(sharedFile(cfg), toolcache.FileOptions{Logger: log}), nil
	}
	u, err := url.Parse(where)
	if err != nil { // its text would show a password
		return nil, wrongShared("is no URL")
	}
	switch u.Scheme {
	case "file":
		path := localPath(u)
		if own, _ := CacheFile(cfg); path == own {
			return nil, wrongShared("names this home's own cache file, which its processes share by themselves; name another")
		}
		return toolcache.NewFile(path, toolcache.FileOptions{Logger: log}), nil
	case "dir":
		return dirstore.Open(localPath(u), dirstore.Options{Logger: log})
	case "http", "https":
		token, err := sharedToken(cfg, u.User)
		if err != nil {
			return nil, err
		}
		u.User = nil
		if u.Scheme == "http" && token != "" && !loopback(u.Hostname()) {
			return nil, wrongShared("would send its token in clear to " + u.Host + "; use https")
		}
		return httpstore.Open(u.String(), httpstore.Options{Token: token})
	case "nats", "tls":
		return natsstore.Open(where, natsstore.Options{Logger: log})
	}
	return nil, wrongShared("has the scheme " + u.Scheme)
}

// localPath is the file or folder that a URL names.
func localPath(u *url.URL) string {
	path := u.Path
	if runtime.GOOS == "windows" && len(path) > 2 && path[2] == ':' { // dir:///C:/team
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

// sharedToken is the bearer token for another Collie: what stands before the @, or behind the
// colon in it. secret:NAME looks it up, so that no token need stand in the settings.
func sharedToken(cfg *config.Config, user *url.Userinfo) (string, error) {
	token, both := user.Password()
	if !both {
		return user.Username(), nil
	}
	if user.Username() != "secret" {
		return token, nil
	}
	lookup := newSecretLookup(cfg)
	value, ok := lookup.get(token)
	if !ok {
		return "", &tool.Error{
			Op: "open shared tool cache", Kind: tool.Invalid, Err: lookup.problem(),
			Message: "cache.shared wants a secret that is not set: " + token, Hint: "collie secret set " + token,
		}
	}
	return value, nil
}

func wrongShared(what string) error {
	return &tool.Error{
		Op: "open shared tool cache", Kind: tool.Invalid, Message: "cache.shared " + what,
		Hint: "write dir:///path, https://TOKEN@host:7420 or nats://host:4222 for a place, or serve to be one",
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// PeersPath is where [Peers] is to be mounted, and below it.
const PeersPath = httpstore.Path

// serveShared is the value of cache.shared that makes this gateway the shared place of others.
const serveShared = "serve"

// sharedFile holds what gateways share where one of them serves it to the others. It is not the
// cache file: lists of several machines lie in it, signed, under names of their own.
func sharedFile(cfg *config.Config) string {
	return filepath.Join(cfg.Paths.State, "shared.cache.json")
}

// Peers serves the shared tool cache to other gateways, with "serve" as cache.shared; else it is
// nil. Whoever mounts it checks who may ask. What peers write is signed, and dropped by whoever
// reads it where the signature is not that of the common key.
func Peers(cfg *config.Config, log *slog.Logger) http.Handler {
	if !cfg.Cache.Enabled || cfg.Cache.Shared != serveShared {
		return nil
	}
	// A handle of its own, so that what peers commit reaches our cache as another's commit.
	return httpstore.Handler(toolcache.NewFile(sharedFile(cfg), toolcache.FileOptions{Logger: log}))
}
