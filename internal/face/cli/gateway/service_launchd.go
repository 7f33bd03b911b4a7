package gateway

import (
	"encoding/xml"
	"path/filepath"
	"strconv"
	"strings"

	"collie/internal/face/cli/locale"
	"collie/internal/lazyregexp"
)

// This file describes the service to launchd, on macOS.

// launchdUnit describes the service as an agent of launchd, or as a system daemon.
func launchdUnit(s *serviceSpec) *unit {
	const label = "collie"
	dir, domain := "/Library/LaunchDaemons", "system"
	if !s.system {
		dir, domain = filepath.Join(s.folder, "Library", "LaunchAgents"), "gui/"+strconv.Itoa(s.uid)
	}
	u := &unit{manager: "launchd", file: filepath.Join(dir, label+".plist"), state: launchdState}
	target := domain + "/" + label
	u.install = [][]string{{"launchctl", "bootstrap", domain, u.file}} // RunAtLoad starts it
	u.clear = [][]string{{"launchctl", "bootout", target}}
	u.status = []string{"launchctl", "print", target}
	u.missing = func(command, _ bool, _ string, _ func(string) bool) string {
		if !command {
			return withoutCommand("launchd", "launchctl")
		}
		return ""
	}
	var b strings.Builder
	b.WriteString(unitText(
		`<?xml version="1.0" encoding="UTF-8"?>`,
		`<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`,
		`<plist version="1.0">`,
		`<dict>`,
	))
	add := func(key, value string) { b.WriteString("\t<key>" + key + "</key>\n\t" + value + "\n") }
	text := func(s string) string { return "<string>" + xmlText(s) + "</string>" }
	add("Label", text(label))
	var words strings.Builder
	words.WriteString("<array>\n")
	for _, word := range append([]string{s.program}, s.args...) {
		words.WriteString("\t\t" + text(word) + "\n")
	}
	add("ProgramArguments", words.String()+"\t</array>")
	if s.system && s.account != "" {
		add("UserName", text(s.account))
	}
	add("EnvironmentVariables", "<dict>\n\t\t<key>PATH</key>\n\t\t"+text(s.path)+"\n\t</dict>")
	add("RunAtLoad", "<true/>")
	add("KeepAlive", "<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>")
	add("ThrottleInterval", "<integer>10</integer>")
	add("ExitTimeOut", "<integer>20</integer>")
	add("Umask", "<integer>63</integer>") // 077
	add("StandardErrorPath", text(strings.TrimSuffix(s.log, ".log")+".stderr.log"))
	b.WriteString("</dict>\n</plist>\n")
	u.text = b.String()
	return u
}

// xmlText escapes a text for XML.
func xmlText(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("cli: a text does not encode: " + err.Error())
	}
	return b.String()
}

// launchdFields matches the lines that launchdState reads.
var launchdFields = lazyregexp.New(`(?m)^\t(state|last exit code) = (.+)$`)

// launchdState parses the output of launchctl print.
func launchdState(out string, err error) (state, detail string) {
	if err != nil {
		return "inactive", locale.Sprintf("it is not registered with launchd: %s", err.Error())
	}
	state = "unknown"
	for _, m := range launchdFields.FindAllStringSubmatch(out, -1) {
		switch {
		case m[1] == "state" && m[2] == "running":
			state = stateActive
		case m[1] == "state":
			state = m[2]
		case m[2] != "0" && m[2] != "(never exited)":
			detail = locale.Sprintf("last exit code %s", m[2])
		}
	}
	return state, detail
}
