package upstream

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"

	"collie/internal/mcp"
	"collie/internal/process"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/signin"
)

// This file gives stable codes and hints for the reasons why a server cannot be used.

// reasonOf returns the stable code for a failed start, and a hint for the user.
func reasonOf(err error) (reason, hint string) {
	if e, ok := errors.AsType[*entryError](err); ok {
		return e.reason, "collie mcp validate shows the place"
	}
	if e, ok := errors.AsType[*process.StartError](err); ok {
		if e.Reason == process.BadDir {
			return "config_invalid", "make that folder, or change cwd"
		}
		return string(e.Reason), InstallHint(e.Name)
	}
	if needsAuth(err) {
		return "auth_required", "" // the hint is added by the caller: it depends on the server
	}
	if _, ok := errors.AsType[*mcp.VersionError](err); ok {
		return "unsupported_protocol", "update the server"
	}
	if _, ok := errors.AsType[*mcp.HandshakeError](err); ok {
		return "bad_handshake", ""
	}
	if e, ok := errors.AsType[*session.ExitError](err); ok {
		if e.Exit.MissingCommand() {
			return "command_not_found", ""
		}
		return "exited_early", ""
	}
	if _, ok := errors.AsType[*listing.Error](err); ok && statusOf(err) == 0 {
		return "list_failed", ""
	}
	if closedPipe(err) {
		return "bad_handshake", "the server closed its input at once: is it one that speaks MCP over stdio, and are its arguments right?"
	}
	if e, ok := errors.AsType[*mcp.LinkError](err); ok {
		return linkReason(e)
	}
	if errors.Is(err, session.ErrTimeout) {
		return "handshake_timeout", "raise startTimeout if it only needs longer"
	}
	return "bad_handshake", ""
}

// closedPipe reports whether a program closed the pipe that we write to. Network connections fail with the same
// error, but do not count here.
func closedPipe(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return !network && errors.Is(err, syscall.EPIPE)
}

// statusOf returns the HTTP status with which a start was refused, 0 if the error is about something else.
func statusOf(err error) int {
	if e, ok := errors.AsType[*mcp.LinkError](err); ok {
		return e.Status
	}
	return 0
}

// needsAuth reports whether err means that a person has to sign in.
func needsAuth(err error) bool {
	if _, ok := errors.AsType[*signin.NeedsAuthError](err); ok {
		return true
	}
	return statusOf(err) == http.StatusUnauthorized
}

func linkReason(e *mcp.LinkError) (reason, hint string) {
	switch {
	case e.Status >= 500:
		return "http_5xx", ""
	case e.Status >= 400:
		return "http_4xx", "check the url"
	}
	return networkReason(e), "is it running, and is the url right?"
}

// InstallHint returns one line on how to install a missing program, by its name.
func InstallHint(command string) string {
	switch command {
	case "npx", "npm", "node":
		return "install Node.js, or give the full path of " + command
	case "uvx", "uv":
		return "install uv (https://docs.astral.sh/uv/), or give the full path of " + command
	case "docker", "podman":
		return "install " + command + " and start it"
	case "bunx", "bun":
		return "install Bun, or give the full path of " + command
	}
	return "install it, or give its full path"
}

// networkReason returns the stable code for an error of the network.
func networkReason(err error) string {
	text := err.Error()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection_refused"
	case strings.Contains(text, "no such host"), strings.Contains(text, "server misbehaving"):
		return "dns"
	case strings.Contains(text, "tls:"), strings.Contains(text, "x509:"):
		return "tls"
	}
	return "bad_handshake"
}
