package config

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// Notify configures notifications to a person who is away when a call needs a confirmation.
type Notify struct {
	Desktop bool // a notification on this machine; default false
	// URL receives a POST; empty (default) disables it. URL and Headers may contain ${NAME} and ${secret:NAME}.
	URL     string
	Headers map[string]string
	Format  string // format of the POST: json (default) or text
}

func (n *Notify) fields() fields {
	address := stringField(&n.URL, "https://ntfy.example.org/my-topic")
	return fields{
		"desktop": boolField(&n.Desktop),
		"url": {func(d *decoder, at node) {
			address.set(d, at)
			if n.URL == "" {
				return
			}
			if err := CheckNotifyURL(n.URL); err != nil {
				n.URL = ""
				d.fail(at, "value", "%s", err.Error()) // the value may hold a secret, so it is not quoted
			}
		}, func() any { return shownURL(n.URL) }},
		"headers": headersField(&n.Headers),
		"format":  choiceField(&n.Format, "json", "text"),
	}
}

// CheckNotifyURL returns what is wrong with a URL for notifications. Plain http is allowed only to this machine or a
// private network, because others could read names of tools and perhaps a token.
func CheckNotifyURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New(`expected an https URL such as "https://ntfy.example.org/my-topic"`)
	case u.User != nil:
		return errors.New("a URL with a name or password in it is not taken; put them into guard.notify.headers as ${secret:NAME}")
	case u.Fragment != "":
		return errors.New("the part behind # is never sent; leave it out")
	case u.Scheme == "http" && !isPrivate(u.Hostname()):
		return errors.New("http is for this machine and private networks alone; use https")
	}
	return nil
}

// isPrivate reports whether the name of a host is that of this machine or of one in a private network.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".localhost", ".local", ".lan", ".internal", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}
