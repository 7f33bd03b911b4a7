package firewall

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"collie/internal/tool"
)

// This file judges URLs and hosts: calls must not reach this machine, private networks or cloud metadata.

// looksLikeURL reports whether a string can only be a URL: scheme://rest without white space, or file:.
func looksLikeURL(s string) bool {
	i := strings.IndexByte(s, ':') // no scheme has a colon
	if i < 0 {
		return false
	}
	return strings.HasPrefix(s[i:], "://") && len(s) > i+3 && len(s) <= 8192 && isScheme(s[:i]) && !strings.ContainsAny(s, " \n\r\t") ||
		len(s) > 5 && strings.EqualFold(s[:5], "file:")
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || s[i] != '+' && s[i] != '-' && s[i] != '.' && (s[i] < '0' || s[i] > '9')) {
			return false
		}
	}
	return s != ""
}

// Schemes that are unusual in a URL argument: those of the first list are denied, those of the
// second raise a question.
const (
	deniedSchemes = " javascript vbscript gopher dict ldap ldaps jar tftp netdoc phar expect php view-source chrome "
	askedSchemes  = " ftp ftps sftp ssh smb telnet rsync scp ws "
)

// judgeURL judges a URL. named means that the argument is for URLs; such a value may lack the scheme.
func (j *judgement) judgeURL(s string, named bool) {
	cleaned := strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' { // the WHATWG URL standard removes these
			return -1
		}
		return r
	}, strings.TrimSpace(s))
	if named && strings.HasPrefix(cleaned, "//") { // a URL relative to the scheme of a page
		cleaned = "https:" + cleaned
	}
	scheme, rest, ok := strings.Cut(cleaned, ":")
	if !ok || !isScheme(scheme) {
		if named && looksLikePath(cleaned) {
			j.judgePath(cleaned, true)
		} else {
			j.touched.addUnknown()
		}
		return
	}
	scheme = strings.ToLower(scheme)
	switch {
	case scheme == "file":
		j.judgePath(cleaned, true)
		return
	case strings.Contains(deniedSchemes, " "+scheme+" "):
		j.report(Deny, "url.scheme", scheme+" URLs are not called")
		return
	case strings.Contains(askedSchemes, " "+scheme+" "):
		j.report(Ask, "url.scheme", "it speaks "+scheme)
	case scheme != "http" && scheme != "https":
		j.touched.addUnknown()
		return // a scheme of some application, such as notion://page
	}
	if strings.Contains(rest, `\`) && strings.Contains(rest, "@") {
		j.report(Deny, "url.userinfo", "programs would read the host of the URL differently")
		return
	}
	rest = strings.ReplaceAll(rest, `\`, "/") // as browsers do
	u, err := url.Parse(scheme + "://" + strings.TrimLeft(rest, "/"))
	if err != nil {
		j.touched.addUnknown()
		j.report(Ask, "url.unreadable", "the URL cannot be read")
		return
	}
	if u.User != nil {
		j.report(Deny, "url.userinfo", "the URL has a name or a password in front of its host")
		return
	}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if name == "" || !isPlainHost(u.Host) {
		j.touched.addUnknown()
	} else {
		j.touched.add(tool.TouchHost, scheme+"://"+withPort(name, u.Port()))
	}
	j.judgeHost(scheme, name, u.Port())
}

// judgeHost judges the host of a URL.
func (j *judgement) judgeHost(scheme, host, port string) {
	if decoded, err := url.PathUnescape(host); err == nil {
		host = decoded
	}
	host = strings.ToLower(strings.ReplaceAll(norm.NFKC.String(host), "。", ".")) // as browsers and resolvers read it
	address, numeric := parseAddress(host)
	if numeric {
		host = address.String()
	} else if inside, ok := servedAddress(host); ok {
		address, numeric = inside, true
	}
	switch {
	case listsHost(j.policy.DenyHosts, host, port):
		j.report(Deny, "url.denied", "guard.hosts.deny names "+host)
		return
	case numeric && (address.IsLinkLocalUnicast() || address.IsMulticast() || address.IsUnspecified()) || isMetadata(host):
		j.report(Deny, "url.metadata", host+" is a metadata address of cloud machines, or not the address of one machine")
		return
	case listsHost(j.policy.AllowHosts, host, port):
		return
	case numeric && isLocal(address), isLocalName(host):
		j.report(Ask, "url.private", host+" lies within your own machine or network")
	case scheme == "http":
		j.report(Ask, "url.plain", "it goes to "+host+" without encryption")
	}
}

// judgeBareHost denies a host that no call may reach, where it is not part of a URL.
func (j *judgement) judgeBareHost(host string) {
	address, numeric := parseAddress(host)
	if numeric && strings.Contains(host, ".") && address.IsLinkLocalUnicast() || isMetadata(strings.ToLower(host)) && strings.Contains(host, ".") {
		j.report(Deny, "url.metadata", host+" is a metadata address of cloud machines, or not the address of one machine")
	}
	if listsHost(j.policy.DenyHosts, strings.ToLower(host), "") {
		j.report(Deny, "url.denied", "guard.hosts.deny names "+host)
	}
}

// carrierNAT is the address range for carrier-grade NAT (RFC 6598).
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

func isMetadata(host string) bool {
	switch host {
	case "metadata.google.internal", "metadata", "instance-data", "100.100.100.200", "192.0.0.192", "fd00:ec2::254":
		return true
	}
	return false
}

// localNames are domains that resolve to this machine or its network: domains reserved or commonly used for local
// names, and public ones whose names resolve to 127.0.0.1 or to an address in the name.
const localNames = " localhost local internal intranet private corp home lan svc home.arpa fritz.box nip.io sslip.io xip.io traefik.me localtest.me lvh.me vcap.me lacolhost.com "

// isLocalName reports whether a host name is known to stand for this machine or something in its network.
func isLocalName(host string) bool {
	if !strings.Contains(host, ".") {
		return host != "" && !strings.Contains(host, ":")
	}
	for domain, more := host, true; more; _, domain, more = strings.Cut(domain, ".") {
		if strings.Contains(localNames, " "+domain+" ") {
			return true
		}
	}
	return namesLocalAddress(host)
}

// addressServers are domains whose names resolve to the address in the name. It may be written as eight hexadecimal
// digits: 7f000001.nip.io.
var addressServers = [...]string{".nip.io", ".sslip.io", ".xip.io", ".traefik.me"}

// servedAddress returns the IPv4 address within a name of one of these domains.
func servedAddress(host string) (netip.Addr, bool) {
	for _, domain := range addressServers {
		name, ok := strings.CutSuffix(host, domain)
		if !ok {
			continue
		}
		labels := strings.Split(strings.ReplaceAll(name, "-", "."), ".")
		for i := len(labels); i > 0; i-- {
			if four := labels[max(0, i-4):i]; len(four) == 4 {
				if a, err := netip.ParseAddr(strings.Join(four, ".")); err == nil {
					return a, true
				}
			}
			if n, err := strconv.ParseUint(labels[i-1], 16, 32); err == nil && len(labels[i-1]) == 8 {
				return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), true
			}
		}
	}
	return netip.Addr{}, false
}

// namesLocalAddress reports whether a name contains a private IPv4 address, as four labels or with hyphens in one:
// 10.0.0.1.example.org, app-10-0-0-1.example.org. Servers for such names answer with that address.
func namesLocalAddress(host string) bool {
	labels := strings.Split(host, ".")
	for i, label := range labels {
		four := labels[i:min(i+4, len(labels))]
		if parts := strings.Split(label, "-"); len(parts) >= 4 {
			four = parts[len(parts)-4:]
		}
		if address, err := netip.ParseAddr(strings.Join(four, ".")); err == nil && address.Is4() && isLocal(address) {
			return true
		}
	}
	return false
}

// isLocal reports whether an address lies within the machine or its network.
func isLocal(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || carrierNAT.Contains(a) || siteLocal.Contains(a) || a.IsLinkLocalUnicast()
}

// parseAddress parses an IP address. IPv4 addresses may have the odd spellings that the C library accepts: 127.1,
// 0x7f.1, 017700000001, 2130706433.
func parseAddress(host string) (netip.Addr, bool) {
	if i := strings.IndexByte(host, '%'); i >= 0 {
		host = host[:i]
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a = a.Unmap(); a.Is6() {
			return embeddedIPv4(a), true
		}
		return a, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 33)
		if err != nil || strings.Contains(part, "_") {
			return netip.Addr{}, false
		}
		last := i == len(parts)-1
		switch {
		case !last && n > 255, last && n >= 1<<(8*(5-len(parts))):
			return netip.Addr{}, false
		case last:
			sum |= n
		default:
			sum |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// embeddedIPv4 returns the IPv4 address embedded in an IPv6 one (NAT64, 6to4, Teredo, and the deprecated compatible form), or
// else a.
func embeddedIPv4(a netip.Addr) netip.Addr {
	b := a.As16()
	switch {
	case nat64.Contains(a), localNAT64.Contains(a), compatible.Contains(a) && !a.IsLoopback() && !a.IsUnspecified():
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	case teredo.Contains(a):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})
	}
	return a
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	compatible = netip.MustParsePrefix("::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
	siteLocal  = netip.MustParsePrefix("fec0::/10")
)

// listsHost reports whether list contains the host, with or without its port.
func listsHost(list []string, host, port string) bool {
	for _, entry := range list {
		entry = strings.ToLower(entry)
		if wild, ok := strings.CutPrefix(entry, "*."); ok {
			if strings.HasSuffix(host, "."+wild) {
				return true
			}
			continue
		}
		if entry == host || port != "" && entry == fmt.Sprintf("%s:%s", host, port) {
			return true
		}
	}
	return false
}
