package gateway

import (
	"path"
	"strings"

	"collie/internal/face/cli/locale"
)

// This file describes the service to the Task Scheduler, on Windows.

// taskUnit describes the service as a task of the Windows Task Scheduler, started at a user's logon or at
// boot. A real Windows service would need an administrator, and a program that talks to the Service Control
// Manager.
func taskUnit(s *serviceSpec) *unit {
	const name = "Collie"
	trigger, principal := "LogonTrigger", "<LogonType>InteractiveToken</LogonType>"
	if s.system {
		trigger, principal = "BootTrigger", "<UserId>S-1-5-18</UserId>"
	}
	var args []string
	for _, a := range s.args {
		args = append(args, windowsWord(a))
	}
	u := &unit{
		manager: "Task Scheduler", utf16: true,
		file:  path.Dir(strings.ReplaceAll(s.log, `\`, "/")) + "/collie-task.xml",
		clear: [][]string{{"schtasks", "/End", "/TN", name}},
		stop:  [][]string{{"schtasks", "/Delete", "/TN", name, "/F"}},
		state: taskState, status: []string{"schtasks", "/Query", "/TN", name, "/XML"},
		missing: func(command, _ bool, _ string, _ func(string) bool) string {
			if !command {
				return withoutCommand(locale.T("the Task Scheduler"), "schtasks")
			}
			return ""
		},
	}
	u.install = [][]string{{"schtasks", "/Create", "/TN", name, "/XML", u.file, "/F"}, {"schtasks", "/Run", "/TN", name}}
	u.text = strings.ReplaceAll(unitText(
		`<?xml version="1.0" encoding="UTF-16"?>`,
		`<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">`,
		`  <RegistrationInfo><Description>Collie, all your MCP servers behind one endpoint</Description></RegistrationInfo>`,
		`  <Triggers><`+trigger+`><Enabled>true</Enabled></`+trigger+`></Triggers>`,
		`  <Principals><Principal id="Author">`+principal+`<RunLevel>LeastPrivilege</RunLevel></Principal></Principals>`,
		`  <Settings>`,
		`    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>`,
		`    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>`,
		`    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>`,
		`    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>`,
		`    <Hidden>true</Hidden>`,
		`    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>`,
		`  </Settings>`,
		`  <Actions Context="Author">`,
		`    <Exec><Command>`+xmlText(s.program)+`</Command><Arguments>`+xmlText(strings.Join(args, " "))+`</Arguments></Exec>`,
		`  </Actions>`,
		`</Task>`,
	), "\n", "\r\n")
	return u
}

// stateRegistered is the state of a service that exists, if nobody can tell whether it runs.
const stateRegistered = "registered"

// taskState only tells whether the task exists, because the rest of the output of schtasks is in the language of the
// system.
func taskState(_ string, err error) (state, detail string) {
	if err != nil {
		return "inactive", locale.Sprintf("it is not registered with the Task Scheduler: %s", err.Error())
	}
	return stateRegistered, ""
}

// windowsWord quotes a word of a command line for Windows programs, in which backslashes are special only
// before a quote.
func windowsWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\"") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, c := range []byte(s) {
		switch c {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes) + `"`)
	return b.String()
}
